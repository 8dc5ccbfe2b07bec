// For a driver whose packages are unpacked below a folder and not installed: what it opens or asks for at a fixed path, and is
// not there, is looked for below the folder that GPULAB_UNPACKED names. scripts/test compiles this and the tests preload it.
#define _GNU_SOURCE
// The functions with 64 in their names are other symbols, which other programs call.
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

// The path below the folder; none where that cannot be it.
static const char *unpacked(const char *path, char *place)
{
    const char *folder = getenv("GPULAB_UNPACKED");
    if (errno != ENOENT || !folder || path[0] != '/')
        return NULL;
    int length = snprintf(place, PATH_MAX, "%s%s", folder, path);
    return length > 0 && length < PATH_MAX ? place : NULL;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                                        \
        va_end(more);                                                                                                  \
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name);                                                 \
        int file = real(path, flags, mode);                                                                            \
        char place[PATH_MAX];                                                                                          \
        if (file < 0 && (flags & O_ACCMODE) == O_RDONLY && unpacked(path, place))                                      \
            file = real(place, flags, mode);                                                                           \
        return file;                                                                                                   \
    }

#define STAT(name, kind)                                                                                               \
    int name(const char *path, struct kind *about)                                                                     \
    {                                                                                                                  \
        int (*real)(const char *, struct kind *) = dlsym(RTLD_NEXT, #name);                                            \
        int status = real(path, about);                                                                                \
        char place[PATH_MAX];                                                                                          \
        if (status < 0 && unpacked(path, place))                                                                       \
            status = real(place, about);                                                                               \
        return status;                                                                                                 \
    }

OPEN(open)
OPEN(open64)
STAT(stat, stat)
STAT(stat64, stat64)
