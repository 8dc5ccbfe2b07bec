// With STREAM, and where the compiler can, vectors are written past the cache: their lines are not read before.
#if defined(STREAM) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define PUT(value, place) __builtin_nontemporal_store(value, place)
#endif
#endif
#ifndef PUT
#define PUT(value, place) (*(place) = (value))
#endif
