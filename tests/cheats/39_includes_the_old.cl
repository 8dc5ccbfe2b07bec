#include "honest/series.cl"
