// fails: REFUSED
