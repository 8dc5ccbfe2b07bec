/* An OpenCL library that fails, lies, sleeps or crashes on demand, and otherwise is the system's.
 *
 * The gate writes `functions.inc` from the lists in crates/engine/src/device/forward.rs: each function counts its call, does what it is
 * told to, or hands on to the real one. What a lie of a function is stands here as `lie_NAME`; what is mended of each
 * answer as `after_NAME`.
 *
 * SHIM_FAULT   NAME:WHEN:ACTION[:ARGUMENT]; WHEN is a number (that call), 3+ (that and all later ones) or %2 (every
 *              second); NAME is a function, `any`, or `load` for the library's constructor.
 *              ACTION is fail (with that code), sleep, abort, segv, kill, exit, print, or else a lie.
 * SHIM_STATE   a file of 64-bit numbers that all processes of a run share: [0] how often SHIM_FAULT was met,
 *              [1] whether what was met had run before (see `note_launch` and `has_read`),
 *              [2] whether a launch was lost that no equal one beside it stood in for, [8 + i] calls of function i.
 * SHIM_ALLOC   the device's largest buffer in bytes: a small device keeps the runs short.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *Ptr;
typedef int32_t i32;
typedef uint32_t u32;
typedef uint64_t u64;
typedef size_t usize;

enum { WORDS = 256, HITS = 0, RAN_BEFORE = 1, MISSED = 2, CALLS = 8 };
enum meeting { REAL, FAIL, LIE };

static u64 spare[WORDS], *state = spare;
static char fault_name[64] = "", action[32] = "", argument[256] = "";
static u64 when;
static char how = ' ';
/* Whether anything was read since a program was built: only what has run is read. */
static int has_read;

static Ptr find(const char *name)
{
    static Ptr library;
    if (!library) library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    Ptr found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "shim: there is no %s\n", name);
        _exit(99);
    }
    return found;
}

/* What goes to standard output does so past stdio, as a driver's own prints may. */
static void print(const char *text)
{
    if (write(1, text, strlen(text)) < 0) return;
}

static enum meeting act(i32 *code)
{
    __atomic_add_fetch(&state[HITS], 1, __ATOMIC_SEQ_CST);
    state[RAN_BEFORE] = (u64)has_read;
    if (!strcmp(action, "fail")) {
        *code = atoi(argument);
        return FAIL;
    }
    if (!strcmp(action, "sleep"))
        for (;;) pause();
    if (!strcmp(action, "abort")) abort();
    if (!strcmp(action, "segv")) {
        *(volatile int *)16 = 1;
    }
    if (!strcmp(action, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(action, "exit")) _exit(atoi(argument));
    if (!strcmp(action, "leave")) exit(atoi(argument));
    if (!strcmp(action, "print")) {
        print("SHIM-GARBAGE\n");
        print("{\"Done\":null}\n{\"Refused\":{\"exit_code\":0,\"message\":\"SHIM-GARBAGE\"}}\n");
        print(argument);
        return REAL;
    }
    return LIE;
}

__attribute__((constructor)) static void load(void)
{
    const char *path = getenv("SHIM_STATE"), *fault = getenv("SHIM_FAULT");
    int file = path ? open(path, O_RDWR) : -1;
    if (file >= 0) {
        Ptr mapped = mmap(NULL, WORDS * sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) state = mapped;
        close(file);
    }
    char count[32] = "1";
    if (fault) sscanf(fault, "%63[^:]:%31[^:]:%31[^:]:%255[^\n]", fault_name, count, action, argument);
    size_t length = strlen(count);
    if (count[0] == '%') how = '%', when = strtoull(count + 1, NULL, 10);
    else {
        when = strtoull(count, NULL, 10);
        if (length && count[length - 1] == '+') how = '+';
    }
    i32 code;
    if (!strcmp(fault_name, "load")) act(&code);
}

/* Counts a call and says what it must do. Calls are counted over all processes of a run, so that a fault that is to
 * happen once does not happen again in the next worker. */
static enum meeting meet(int function, const char *name, i32 *code)
{
    u64 n = __atomic_add_fetch(&state[CALLS + function], 1, __ATOMIC_SEQ_CST);
    if (strcmp(fault_name, name) && strcmp(fault_name, "any")) return REAL;
    int now = how == '%' ? n % when == 0 : how == '+' ? n >= when : n == when;
    return now ? act(code) : REAL;
}

/* ---- a small device ---- */

static void after_clGetDeviceInfo(i32 code, Ptr device, u32 key, usize size, Ptr value, Ptr needed)
{
    const char *alloc = getenv("SHIM_ALLOC");
    u64 bytes = alloc ? strtoull(alloc, NULL, 10) : 0;
    if (code || !value || size < 8 || !bytes) return;
    if (key == 0x1010) *(u64 *)value = bytes;       /* MAX_MEM_ALLOC_SIZE */
    if (key == 0x101E) *(u64 *)value = 64 << 10;    /* GLOBAL_MEM_CACHE_SIZE */
    if (key == 0x101F) *(u64 *)value = 256 * bytes; /* GLOBAL_MEM_SIZE */
    (void)device, (void)needed;
}

/* ---- what ran, so that a refusal can be told from a failure afterwards ---- */

static void before_clBuildProgram(enum meeting meeting, Ptr program, u32 count, Ptr devices, Ptr options, Ptr callback,
                                  Ptr data)
{
    has_read = 0;
    (void)meeting, (void)program, (void)count, (void)devices, (void)options, (void)callback, (void)data;
}

static void before_clEnqueueReadBuffer(enum meeting meeting, Ptr queue, Ptr buffer, u32 block, usize offset, usize size,
                                       Ptr host, u32 waits, Ptr list, Ptr event)
{
    has_read = 1;
    (void)meeting, (void)queue, (void)buffer, (void)block, (void)offset, (void)size, (void)host, (void)waits;
    (void)list, (void)event;
}

enum { KERNELS = 4096, NUMBERS = 16 };

/* The numbers that a kernel object has as arguments, by their places, and what launches it had. */
static struct { Ptr kernel; u32 numbers[NUMBERS]; } given[KERNELS];
static struct { Ptr kernel; u64 what, stretch; } launched[KERNELS];
/* Launches between which neither the host waits nor data are written: of equal ones, each writes what the first one wrote. */
static u64 stretch = 1;

/* The kernel's place in `given`, a new one if need be. */
static size_t place_of(Ptr kernel)
{
    size_t i = 0;
    while (i < KERNELS - 1 && given[i].kernel && given[i].kernel != kernel) i++;
    given[i].kernel = kernel;
    return i;
}

static void before_clSetKernelArg(enum meeting meeting, Ptr kernel, u32 index, usize size, Ptr value)
{
    if (size == sizeof(u32) && value && index < NUMBERS) memcpy(&given[place_of(kernel)].numbers[index], value, size);
    (void)meeting;
}

static u64 mixed(u64 hash, u64 number)
{
    return (hash ^ number) * 0x100000001b3;
}

/* Whether this kernel object was launched before over this range with these numbers: cases may share a kernel, and a size
 * that is refused is another range or another number. Remembers it, and a launch that is lost where no equal one of its stretch
 * did its work. */
static int note_launch(enum meeting meeting, Ptr kernel, u32 dims, const usize *global)
{
    u64 what = mixed(0xcbf29ce484222325, dims);
    size_t i, at = place_of(kernel);
    for (i = 0; i < dims; i++) what = mixed(what, global[i]);
    for (i = 0; i < NUMBERS; i++) what = mixed(what, given[at].numbers[i]);
    for (i = 0; i < KERNELS && launched[i].kernel; i++)
        if (launched[i].kernel == kernel && launched[i].what == what) break;
    if (i == KERNELS) {
        if (meeting != REAL) state[MISSED] = 1;
        return 1;
    }
    int ran = launched[i].kernel != NULL;
    if (meeting != REAL && launched[i].stretch != stretch) state[MISSED] = 1;
    launched[i].kernel = kernel;
    launched[i].what = what;
    if (meeting == REAL) launched[i].stretch = stretch;
    return ran;
}

static void before_clEnqueueNDRangeKernel(enum meeting meeting, Ptr queue, Ptr kernel, u32 dims, Ptr offset, Ptr global,
                                          Ptr local, u32 waits, Ptr list, Ptr event)
{
    int ran = note_launch(meeting, kernel, dims, global);
    if (meeting != REAL) state[RAN_BEFORE] = ran;
    (void)queue, (void)offset, (void)local, (void)waits, (void)list, (void)event;
}

static void before_clFinish(enum meeting meeting, Ptr queue)
{
    stretch++;
    (void)meeting, (void)queue;
}

static void before_clEnqueueWriteBuffer(enum meeting meeting, Ptr queue, Ptr buffer, u32 block, usize offset, usize size,
                                        Ptr host, u32 waits, Ptr list, Ptr event)
{
    stretch++;
    (void)meeting, (void)queue, (void)buffer, (void)block, (void)offset, (void)size, (void)host, (void)waits;
    (void)list, (void)event;
}

/* A kernel's address is given out again after its release. */
static void before_clReleaseKernel(enum meeting meeting, Ptr kernel)
{
    for (size_t i = 0; i < KERNELS && launched[i].kernel; i++)
        if (launched[i].kernel == kernel) launched[i].kernel = (Ptr)1;
    size_t at = place_of(kernel);
    memset(given[at].numbers, 0, sizeof given[at].numbers);
    (void)meeting;
}

/* ---- lies ---- */

/* Success, and nothing done: an event of a marker stands for what was not done. */
static i32 nothing(Ptr queue, u32 waits, Ptr list, Ptr event)
{
    if (!event) return 0;
    i32 (*marker)(Ptr, u32, Ptr, Ptr) = find("clEnqueueMarkerWithWaitList");
    return marker(queue, waits, list, event);
}

static i32 lie_clEnqueueNDRangeKernel(Ptr real, Ptr queue, Ptr kernel, u32 dims, Ptr offset, Ptr global, Ptr local,
                                      u32 waits, Ptr list, Ptr event)
{
    (void)kernel, (void)dims, (void)offset, (void)global, (void)local, (void)real;
    return nothing(queue, waits, list, event);
}

static i32 lie_clEnqueueWriteBuffer(Ptr real, Ptr queue, Ptr buffer, u32 block, usize offset, usize size, Ptr host,
                                    u32 waits, Ptr list, Ptr event)
{
    i32 (*write)(Ptr, Ptr, u32, usize, usize, Ptr, u32, Ptr, Ptr) = real;
    if (!strcmp(action, "flip") && size) {
        /* One wrong bit in the middle. */
        char *copy = malloc(size);
        memcpy(copy, host, size);
        copy[size / 2] ^= 1;
        i32 code = write(queue, buffer, 1, offset, size, copy, waits, list, event);
        free(copy);
        return code;
    }
    (void)block;
    return nothing(queue, waits, list, event);
}

static i32 lie_clEnqueueCopyBuffer(Ptr real, Ptr queue, Ptr from, Ptr to, usize from_offset, usize to_offset, usize size,
                                   u32 waits, Ptr list, Ptr event)
{
    (void)from, (void)to, (void)from_offset, (void)to_offset, (void)size, (void)real;
    return nothing(queue, waits, list, event);
}

static i32 lie_clEnqueueFillBuffer(Ptr real, Ptr queue, Ptr buffer, Ptr pattern, usize unit, usize offset, usize size,
                                   u32 waits, Ptr list, Ptr event)
{
    (void)buffer, (void)pattern, (void)unit, (void)offset, (void)size, (void)real;
    return nothing(queue, waits, list, event);
}

static i32 lie_clEnqueueReadBuffer(Ptr real, Ptr queue, Ptr buffer, u32 block, usize offset, usize size, Ptr host,
                                   u32 waits, Ptr list, Ptr event)
{
    i32 (*read)(Ptr, Ptr, u32, usize, usize, Ptr, u32, Ptr, Ptr) = real;
    if (!strcmp(action, "drop")) return nothing(queue, waits, list, event);
    if (!strcmp(action, "stale")) {
        /* What the last read of this size gave. */
        static char *last;
        static usize length;
        if (last && length == size) {
            memcpy(host, last, size);
            return nothing(queue, waits, list, event);
        }
        i32 code = read(queue, buffer, 1, offset, size, host, waits, list, event);
        free(last);
        last = malloc(size);
        length = size;
        memcpy(last, host, size);
        return code;
    }
    i32 code = read(queue, buffer, 1, offset, size, host, waits, list, event);
    if (!strcmp(action, "zero")) memset(host, 0, size);
    if (!strcmp(action, "ones")) memset(host, 0xff, size);
    if (!strcmp(action, "half")) memset((char *)host + size / 2, 0, size - size / 2);
    if (!strcmp(action, "flip") && size) ((char *)host)[size / 2] ^= 1;
    (void)block;
    return code;
}

/* Two buffers are one. */
static Ptr lie_clCreateBuffer(Ptr real, Ptr context, u64 flags, usize size, Ptr host, i32 *errcode)
{
    static Ptr other;
    static usize room;
    Ptr (*create)(Ptr, u64, usize, Ptr, i32 *) = real;
    if (other && room >= size && !host) {
        i32 (*retain)(Ptr) = find("clRetainMemObject");
        if (errcode) *errcode = 0;
        retain(other);
        return other;
    }
    Ptr made = create(context, flags, size, host, errcode);
    if (made && !host) {
        i32 (*retain)(Ptr) = find("clRetainMemObject");
        retain(made);
        other = made, room = size;
    }
    return made;
}

static i32 lie_clBuildProgram(Ptr real, Ptr program, u32 count, Ptr devices, Ptr options, Ptr callback, Ptr data)
{
    (void)real, (void)program, (void)count, (void)devices, (void)options, (void)callback, (void)data;
    return 0;
}

/* Whatever is asked of it is 0 and success. */
static i32 blank(usize size, Ptr value, Ptr needed)
{
    if (value) memset(value, 0, size);
    if (needed) *(usize *)needed = size;
    return 0;
}

static i32 lie_clGetProgramBuildInfo(Ptr real, Ptr program, Ptr device, u32 key, usize size, Ptr value, Ptr needed)
{
    (void)real, (void)program, (void)device, (void)key;
    return blank(size, value, needed);
}

static i32 lie_clGetDeviceInfo(Ptr real, Ptr device, u32 key, usize size, Ptr value, Ptr needed)
{
    if (!strcmp(action, "huge")) {
        if (value) memset(value, 0x7f, size);
        if (needed) *(usize *)needed = size ? size : 8;
        return 0;
    }
    (void)real, (void)device, (void)key;
    return blank(size, value, needed);
}

static i32 lie_clGetDeviceIDs(Ptr real, Ptr platform, u64 kind, u32 room, Ptr ids, Ptr count)
{
    if (count) *(u32 *)count = 0;
    (void)real, (void)platform, (void)kind, (void)room, (void)ids;
    return 0;
}

static i32 lie_clGetPlatformIDs(Ptr real, u32 room, Ptr ids, Ptr count)
{
    if (count) *(u32 *)count = 0;
    (void)real, (void)room, (void)ids;
    return 0;
}

/* The command failed, though nobody said so until its event was asked. */
static i32 lie_clGetEventInfo(Ptr real, Ptr event, u32 key, usize size, Ptr value, Ptr needed)
{
    i32 (*get)(Ptr, u32, usize, Ptr, Ptr) = real;
    i32 code = get(event, key, size, value, needed);
    if (key == 0x11D3 && value && size >= 4) *(i32 *)value = atoi(argument); /* COMMAND_EXECUTION_STATUS */
    return code;
}

static i32 lie_clGetEventProfilingInfo(Ptr real, Ptr event, u32 key, usize size, Ptr value, Ptr needed)
{
    i32 (*get)(Ptr, u32, usize, Ptr, Ptr) = real;
    i32 code = get(event, key, size, value, needed);
    if (code || !value || size < 8) return code;
    static u64 first, step;
    u64 *stamp = value, start = 0, end = 0;
    get(event, 0x1282, 8, &start, NULL);
    get(event, 0x1283, 8, &end, NULL);
    if (!first) first = *stamp;
    double factor = atof(argument);
    int is_start = key == 0x1282, is_end = key == 0x1283;
    if (!strcmp(action, "zero")) *stamp = 0;
    if (!strcmp(action, "same")) *stamp = first;
    if (!strcmp(action, "constant") && is_end) *stamp = start + (u64)factor;
    if (!strcmp(action, "scale") && is_end) *stamp = start + (u64)((double)(end - start) * factor);
    if (!strcmp(action, "rate")) *stamp = first + (u64)(((double)*stamp - (double)first) * factor);
    if (!strcmp(action, "reversed")) *stamp = is_end ? start : is_start ? end : *stamp;
    if (!strcmp(action, "random") && is_end) *stamp = start + 50 + (u64)rand() % (u64)factor;
    if (!strcmp(action, "short") && is_end) *stamp = start + (u64)((double)(end - start) * factor) + step++ % 7;
    if (!strcmp(action, "huge")) *stamp = ~(u64)0 - 3 + (key - 0x1280);
    return code;
}

#include "functions.inc"
