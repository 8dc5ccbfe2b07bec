// Sees the OpenCL calls of somebody else's program on its real driver, and writes down what they did: a layer for OpenCL's loader
// (OPENCL_LAYERS) and, for loaders without layers, a library to preload. `gpulab time` builds it against OpenCL's headers, starts
// the program with it, and reads the files that it writes to the folder GPULAB_LAYER:
//
// - PID.jsonl: an object of 512 bytes for each kernel, kind of transfer and refused call, rewritten in place as the program goes
//   on, so that they are there however it ends.
// - kept: empty, or why the launch number GPULAB_LAUNCH of the kernel GPULAB_KEEP was not kept. It is a family then: its TOML
//   file is GPULAB_KEEP_TO.toml, and the kernel's text and the data stand beside it, in files that begin with that name.
//
// It uses nothing of the C++ library at run time, as the program may bring another one.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <tuple>
#include <type_traits>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

namespace
{
// Functions that are only looked at for what they refuse, create, retain or release.
#define PLAIN(f) \
  f(clGetPlatformIDs) f(clGetPlatformInfo) f(clGetDeviceIDs) f(clGetDeviceInfo) f(clCreateSubDevices) f(clCreateContext) \
  f(clCreateContextFromType) f(clRetainContext) f(clGetContextInfo) f(clRetainCommandQueue) f(clSetCommandQueueProperty) \
  f(clCreateBuffer) f(clCreateBufferWithProperties) f(clCreateSubBuffer) f(clCreateImage) f(clCreateImageWithProperties) \
  f(clCreateImage2D) f(clCreateImage3D) f(clCreatePipe) f(clRetainMemObject) f(clGetSupportedImageFormats) \
  f(clGetMemObjectInfo) f(clGetImageInfo) f(clCreateSampler) f(clCreateSamplerWithProperties) f(clRetainSampler) \
  f(clGetSamplerInfo) f(clCreateProgramWithSource) f(clCreateProgramWithBinary) f(clCreateProgramWithBuiltInKernels) \
  f(clCreateProgramWithIL) f(clRetainProgram) f(clGetProgramInfo) f(clGetProgramBuildInfo) f(clCreateKernel) f(clRetainKernel) \
  f(clSetKernelExecInfo) f(clGetKernelInfo) f(clGetKernelArgInfo) f(clGetKernelWorkGroupInfo) f(clGetKernelSubGroupInfo) \
  f(clCreateUserEvent) f(clSetUserEventStatus) f(clSetEventCallback) f(clGetEventInfo) f(clRetainEvent) f(clFlush) \
  f(clEnqueueMarker) f(clEnqueueBarrier) f(clEnqueueWaitForEvents) f(clEnqueueMarkerWithWaitList) \
  f(clEnqueueBarrierWithWaitList)
// Functions with a wrapper of their own, or of their kind.
#define OTHER(f) \
  f(clReleaseContext) f(clReleaseCommandQueue) f(clReleaseMemObject) f(clReleaseSampler) f(clReleaseProgram) f(clReleaseKernel) \
  f(clReleaseEvent) f(clCreateCommandQueue) f(clCreateCommandQueueWithProperties) f(clGetCommandQueueInfo) \
  f(clCreateKernelsInProgram) f(clCloneKernel) f(clSetKernelArg) f(clSetKernelArgSVMPointer) f(clBuildProgram) \
  f(clCompileProgram) f(clLinkProgram) f(clGetEventProfilingInfo) f(clFinish) f(clWaitForEvents) f(clEnqueueNDRangeKernel) \
  f(clEnqueueTask) f(clEnqueueNativeKernel) f(clEnqueueReadBuffer) f(clEnqueueReadBufferRect) f(clEnqueueReadImage) \
  f(clEnqueueWriteBuffer) f(clEnqueueWriteBufferRect) f(clEnqueueWriteImage) f(clEnqueueCopyBuffer) f(clEnqueueCopyBufferRect) \
  f(clEnqueueCopyImage) f(clEnqueueCopyImageToBuffer) f(clEnqueueCopyBufferToImage) f(clEnqueueFillBuffer) f(clEnqueueFillImage) \
  f(clEnqueueMigrateMemObjects) f(clEnqueueMapBuffer) f(clEnqueueMapImage) f(clEnqueueUnmapMemObject) f(clEnqueueSVMMemcpy) \
  f(clEnqueueSVMMemFill) f(clEnqueueSVMMap) f(clEnqueueSVMUnmap)

enum Function
{
#define NUMBER(name) F_##name,
  PLAIN(NUMBER) OTHER(NUMBER) Functions
};
const char* const functionNames[] = {
#define NAME(name) #name,
  PLAIN(NAME) OTHER(NAME)};

// The driver's functions, or those of the layer below this one.
cl_icd_dispatch real;
// Whether the loader has taken this library for a layer: then what is preloaded only passes calls on.
bool isLayer = false;
// Calls that another call makes are none of the program's.
thread_local int depth = 0;

struct Lock
{
  static pthread_mutex_t mutex;
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
};
pthread_mutex_t Lock::mutex = PTHREAD_MUTEX_INITIALIZER;

uint64_t now()
{
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

// ---- what is written down

struct Stat
{
  char what[32];
  char name[256];
  int code;
  uint64_t count, timed, bytes, total, least, most; // times in nanoseconds
};
const int MostStats = 4096, Line = 512;
Stat stats[MostStats];
int statCount = 0;
int file = -1;
const char* folder = nullptr;

void write(const Stat& stat)
{
  char line[Line + 1];
  const int length = snprintf(line, sizeof line,
                              "{\"what\":\"%s\",\"name\":\"%s\",\"code\":%d,\"count\":%llu,\"timed\":%llu,\"bytes\":%llu,"
                              "\"t_total_s\":%.9f,\"t_min_s\":%.9f,\"t_max_s\":%.9f}",
                              stat.what, stat.name, stat.code, (unsigned long long)stat.count, (unsigned long long)stat.timed,
                              (unsigned long long)stat.bytes, 1e-9 * double(stat.total), 1e-9 * double(stat.least),
                              1e-9 * double(stat.most));
  memset(line + length, ' ', size_t(Line - length));
  line[Line - 1] = '\n';
  // Nothing can be done about a full disk.
  if (file >= 0 && pwrite(file, line, Line, off_t(&stat - stats) * Line) < 0)
    return;
}

// The one of this kind and name; the last one takes what has no room.
Stat* statOf(const char* what, const char* name, int code = 0)
{
  for (int i = 0; i < statCount; i++)
    if (stats[i].code == code && !strcmp(stats[i].name, name) && !strcmp(stats[i].what, what))
      return &stats[i];
  Stat* const stat = &stats[statCount < MostStats ? statCount++ : MostStats - 1];
  snprintf(stat->what, sizeof stat->what, "%s", what);
  snprintf(stat->name, sizeof stat->name, "%s", name);
  stat->code = code;
  return stat;
}

void add(Stat* stat, uint64_t bytes)
{
  stat->count++;
  stat->bytes += bytes;
}

void addTime(Stat* stat, uint64_t time)
{
  stat->least = stat->timed++ && stat->least < time ? stat->least : time;
  stat->most = stat->most > time ? stat->most : time;
  stat->total += time;
}

void open()
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.jsonl", folder, int(getpid()));
  file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

// ---- objects that live

struct Arg
{
  enum Kind { None, Value, Local, Svm } kind;
  size_t size;
  unsigned char* bytes;
};

struct Object
{
  const void* handle;
  Object* next;
  uint64_t bytes;
  const char* kind;
  bool hidesProfiling; // a queue whose program asked for none
  Stat* stat;          // of a kernel
  Arg* args;
  cl_uint argCount;
  cl_program* inputs; // of a linked program
  cl_uint inputCount;
};
Object* objects[4096];

Object** placeOf(const void* handle)
{
  Object** at = &objects[uintptr_t(handle) / 16 % (sizeof objects / sizeof *objects)];
  while (*at && (*at)->handle != handle)
    at = &(*at)->next;
  return at;
}

Object* objectOf(const void* handle)
{
  Object** const at = placeOf(handle);
  if (!*at)
  {
    *at = static_cast<Object*>(calloc(1, sizeof(Object)));
    if (*at)
      (*at)->handle = handle;
  }
  return *at;
}

void forget(const void* handle)
{
  Object** const at = placeOf(handle);
  Object* const gone = *at;
  if (!gone)
    return;
  *at = gone->next;
  for (cl_uint i = 0; i < gone->argCount; i++)
    free(gone->args[i].bytes);
  free(gone->args);
  free(gone->inputs);
  free(gone);
}

#define KIND(type, kind, info, parameter) \
  const char* kindOf(type) { return kind; } \
  cl_uint references(type object) \
  { \
    cl_uint count = 0; \
    return real.info(object, parameter, sizeof count, &count, nullptr) == CL_SUCCESS ? count : 0; \
  }
KIND(cl_context, "contexts", clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT)
KIND(cl_command_queue, "queues", clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT)
KIND(cl_mem, "buffers and images", clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT)
KIND(cl_sampler, "samplers", clGetSamplerInfo, CL_SAMPLER_REFERENCE_COUNT)
KIND(cl_program, "programs", clGetProgramInfo, CL_PROGRAM_REFERENCE_COUNT)
KIND(cl_kernel, "kernels", clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT)
KIND(cl_event, "events", clGetEventInfo, CL_EVENT_REFERENCE_COUNT)

template <class T> constexpr bool isObject = false;
template <> constexpr bool isObject<cl_context> = true;
template <> constexpr bool isObject<cl_command_queue> = true;
template <> constexpr bool isObject<cl_mem> = true;
template <> constexpr bool isObject<cl_sampler> = true;
template <> constexpr bool isObject<cl_program> = true;
template <> constexpr bool isObject<cl_kernel> = true;
template <> constexpr bool isObject<cl_event> = true;

void finish();

// What the program holds one reference more of.
template <class T> void hold(T object, bool isNew)
{
  Lock lock;
  Stat* const stat = statOf("unreleased", kindOf(object));
  stat->count++;
  if constexpr (!std::is_same_v<T, cl_event>)
    objectOf(object)->kind = kindOf(object);
  if constexpr (std::is_same_v<T, cl_mem>)
    if (isNew)
    {
      size_t bytes = 0;
      real.clGetMemObjectInfo(object, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
      cl_mem whole = nullptr; // of which a part has no memory of its own
      real.clGetMemObjectInfo(object, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, nullptr);
      Object* const known = objectOf(object);
      known->bytes = whole ? 0 : bytes;
      stat->bytes += known->bytes;
    }
  // Behind the driver's own, so that it runs before.
  static bool isAtExit = false;
  if (!isAtExit)
    isAtExit = !atexit(finish);
}

template <class T> void letGo(T object, bool isLast)
{
  Lock lock;
  Stat* const stat = statOf("unreleased", kindOf(object));
  stat->count -= stat->count > 0;
  if (!isLast)
    return;
  stat->bytes -= objectOf(object)->bytes;
  forget(object);
}

// ---- commands, and when they ran

struct Pending
{
  cl_event event;
  Stat* stat;
  Pending* next;
};
Pending* pending = nullptr;
size_t pendingCount = 0, pendingMost = 256;

// What looking on took since then.
void addOwn(uint64_t began)
{
  Lock lock;
  Stat* const own = statOf("layer", "");
  own->count++;
  own->total += now() - began;
}

// Notes the times of commands that have ended, without the lock, as drivers may call the program back.
void settle()
{
  const uint64_t began = now();
  Pending* all;
  {
    Lock lock;
    all = pending;
    pending = nullptr;
    pendingCount = 0;
  }
  Pending *left = nullptr, *last = nullptr;
  size_t leftCount = 0;
  while (all)
  {
    Pending* const one = all;
    all = one->next;
    cl_int status = CL_COMPLETE;
    const cl_int answer =
      real.clGetEventInfo(one->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (answer == CL_SUCCESS && status > CL_COMPLETE)
    {
      one->next = left;
      left = one;
      last = last ? last : one;
      leftCount++;
      continue;
    }
    cl_ulong began = 0, ended = 0;
    const bool isTimed =
      status == CL_COMPLETE &&
      real.clGetEventProfilingInfo(one->event, CL_PROFILING_COMMAND_START, sizeof began, &began, nullptr) == CL_SUCCESS &&
      real.clGetEventProfilingInfo(one->event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr) == CL_SUCCESS;
    real.clReleaseEvent(one->event);
    Lock lock;
    if (isTimed && ended >= began)
      addTime(one->stat, ended - began);
    if (!all || all->stat != one->stat)
      write(*one->stat);
    free(one);
  }
  {
    Lock lock;
    if (last)
    {
      last->next = pending;
      pending = left;
      pendingCount += leftCount;
    }
    pendingMost = 2 * pendingCount + 256;
    write(*statOf("layer", ""));
  }
  addOwn(began);
}

// Notes a command; its event is the program's, or ours alone.
void noteCommand(cl_event event, bool isOurs, Stat* stat, bool isOver)
{
  const uint64_t began = now();
  if (!isOurs)
  {
    hold(event, true);
    real.clRetainEvent(event);
  }
  bool isMuch;
  {
    Lock lock;
    Pending* const one = static_cast<Pending*>(malloc(sizeof(Pending)));
    if (one)
      *one = {event, stat, pending};
    pending = one ? one : pending;
    isMuch = ++pendingCount > pendingMost;
  }
  addOwn(began);
  if (isMuch || isOver)
    settle();
}

// At the end of a program that ends by itself.
void finish()
{
  depth++;
  settle();
  Lock lock;
  statOf("end", "")->count = 1;
  for (int i = 0; i < statCount; i++)
    write(stats[i]);
  depth--;
}

void note(Function function, cl_int code)
{
  if (code == CL_SUCCESS)
    return;
  Lock lock;
  Stat* const stat = statOf("refused", functionNames[function], code);
  add(stat, 0);
  write(*stat);
}

// ---- wrappers by kind

// Whether a function's last argument is the place for its code.
template <class R, class... A>
constexpr bool hasPlace =
  !std::is_same_v<R, cl_int> && std::is_same_v<std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>, cl_int*>;

// Carries out a call, and notes its code if it is refused.
template <Function number, class R, class... A> R carryOut(R(CL_API_CALL* next)(A...), std::tuple<A...>& all, cl_int& code)
{
  code = CL_SUCCESS;
  if constexpr (hasPlace<R, A...>)
  {
    cl_int*& place = std::get<sizeof...(A) - 1>(all);
    cl_int* const asked = place;
    place = &code;
    const R result = std::apply(next, all);
    if (asked)
      *asked = code;
    note(number, code);
    return result;
  }
  else
  {
    const R result = std::apply(next, all);
    if constexpr (std::is_same_v<R, cl_int>)
      note(number, code = result);
    return result;
  }
}

struct Inside
{
  Inside() { depth++; }
  ~Inside() { depth--; }
};

// A call that only passes through: one of ours, or one that a layer sees.
#define PASS_ON(name, ...) \
  if (depth > 0 || !folder) \
    return real.name(__VA_ARGS__); \
  const Inside inside

template <Function number, auto member, class F> struct Plain;
template <Function number, auto member, class R, class... A> struct Plain<number, member, R(CL_API_CALL*)(A...)>
{
  static R CL_API_CALL call(A... args)
  {
    if (depth > 0 || !folder)
      return (real.*member)(args...);
    const Inside inside;
    std::tuple<A...> all{args...};
    cl_int code;
    const R result = carryOut<number>(real.*member, all, code);
    if constexpr (isObject<R>)
      if (result)
        hold(result, true);
    if constexpr (number == F_clCreateBuffer)
      if (result && std::get<1>(all) & CL_MEM_COPY_HOST_PTR)
      {
        Lock lock;
        Stat* const stat = statOf("write at creation", "");
        add(stat, std::get<2>(all));
        write(*stat);
      }
    if constexpr (number == F_clRetainContext || number == F_clRetainCommandQueue || number == F_clRetainMemObject ||
                  number == F_clRetainSampler || number == F_clRetainProgram || number == F_clRetainKernel ||
                  number == F_clRetainEvent)
      if (code == CL_SUCCESS)
        hold(std::get<0>(all), false);
    if constexpr ((std::is_same_v<A, cl_event*> || ...))
      if (code == CL_SUCCESS && std::get<cl_event*>(all))
        hold(*std::get<cl_event*>(all), true);
    return result;
  }
};

template <Function number, auto member, class F> struct Release;
template <Function number, auto member, class T> struct Release<number, member, cl_int(CL_API_CALL*)(T)>
{
  static cl_int CL_API_CALL call(T object)
  {
    if (depth > 0 || !folder)
      return (real.*member)(object);
    const Inside inside;
    // Events that are waited for hold their queues.
    if constexpr (number == F_clReleaseCommandQueue || number == F_clReleaseContext)
      settle();
    const bool isLast = number != F_clReleaseEvent && object && references(object) == 1;
    const cl_int code = (real.*member)(object);
    note(number, code);
    if (code == CL_SUCCESS)
      letGo(object, isLast);
    return code;
  }
};

// Bytes of a region of an image.
uint64_t bytesOf(cl_mem image, const size_t* region)
{
  size_t element = 1;
  real.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  return region ? uint64_t(region[0]) * region[1] * region[2] * element : 0;
}

uint64_t bytesOf(const size_t* region) { return region ? uint64_t(region[0]) * region[1] * region[2] : 0; }

enum Size { Nothing, Bytes, Region, Pixels };

// A command: what it is, and which argument says its size.
template <Function number, auto member, Size size, int at, class F> struct Command;
template <Function number, auto member, Size size, int at, class R, class... A>
struct Command<number, member, size, at, R(CL_API_CALL*)(A...)>
{
  static const char* what;

  static R CL_API_CALL call(A... args)
  {
    if (depth > 0 || !folder)
      return (real.*member)(args...);
    const Inside inside;
    std::tuple<A...> all{args...};
    cl_event own = nullptr;
    cl_event*& event = std::get<cl_event*>(all);
    const bool isOurs = !event;
    event = isOurs ? &own : event;
    cl_int code;
    const R result = carryOut<number>(real.*member, all, code);
    if (code != CL_SUCCESS)
      return result;
    uint64_t bytes = 0;
    if constexpr (size == Bytes)
      bytes = std::get<at>(all);
    if constexpr (size == Region)
      bytes = bytesOf(std::get<at>(all));
    if constexpr (size == Pixels)
      bytes = bytesOf(std::get<1>(all), std::get<at>(all));
    bool isOver = false;
    if constexpr (std::is_same_v<std::tuple_element_t<2, std::tuple<A...>>, cl_bool>)
      isOver = std::get<2>(all) == CL_TRUE;
    Stat* stat;
    {
      Lock lock;
      stat = statOf(what, "");
      add(stat, bytes);
    }
    noteCommand(*event, isOurs, stat, isOver);
    return result;
  }
};

// Commands: their kind, what their size is counted in, and the argument that says it.
#define COMMANDS(f) \
  f(clEnqueueReadBuffer, "read", Bytes, 4) f(clEnqueueReadBufferRect, "read", Region, 5) f(clEnqueueReadImage, "read", Pixels, 4) \
  f(clEnqueueWriteBuffer, "write", Bytes, 4) f(clEnqueueWriteBufferRect, "write", Region, 5) \
  f(clEnqueueWriteImage, "write", Pixels, 4) f(clEnqueueCopyBuffer, "copy", Bytes, 5) \
  f(clEnqueueCopyBufferRect, "copy", Region, 5) f(clEnqueueCopyImage, "copy", Pixels, 5) \
  f(clEnqueueCopyImageToBuffer, "copy", Pixels, 4) f(clEnqueueCopyBufferToImage, "copy", Nothing, 0) \
  f(clEnqueueFillBuffer, "fill", Bytes, 5) f(clEnqueueFillImage, "fill", Pixels, 4) \
  f(clEnqueueMigrateMemObjects, "migrate", Nothing, 0) f(clEnqueueMapBuffer, "map", Bytes, 5) \
  f(clEnqueueMapImage, "map", Pixels, 5) f(clEnqueueUnmapMemObject, "unmap", Nothing, 0) \
  f(clEnqueueSVMMemcpy, "copy of SVM", Bytes, 4) f(clEnqueueSVMMemFill, "fill of SVM", Bytes, 4) \
  f(clEnqueueSVMMap, "map of SVM", Bytes, 4) f(clEnqueueSVMUnmap, "unmap of SVM", Nothing, 0) \
  f(clEnqueueNativeKernel, "native kernel", Nothing, 0)
#define RELEASES(f) \
  f(clReleaseContext) f(clReleaseCommandQueue) f(clReleaseMemObject) f(clReleaseSampler) f(clReleaseProgram) f(clReleaseKernel) \
  f(clReleaseEvent)

#define PLAIN_TYPE(name) Plain<F_##name, &cl_icd_dispatch::name, decltype(cl_icd_dispatch::name)>
#define RELEASE_TYPE(name) Release<F_##name, &cl_icd_dispatch::name, decltype(cl_icd_dispatch::name)>
#define COMMAND_TYPE(name, size, at) \
  Command<F_##name, &cl_icd_dispatch::name, size, at, decltype(cl_icd_dispatch::name)>
#define SAY_WHAT(name, kind, size, at) template <> const char* COMMAND_TYPE(name, size, at)::what = kind;
COMMANDS(SAY_WHAT)

// ---- queues

// Whether the program asked for times of this queue is remembered, so that it is told what it would be told without us.
template <class Create> cl_command_queue makeQueue(Function function, bool isAsked, cl_int* place, Create create)
{
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = create(!isAsked, &code);
  const bool hides = queue && !isAsked;
  if (!queue && !isAsked)
    queue = create(false, &code);
  note(function, code);
  if (place)
    *place = code;
  if (queue)
  {
    hold(queue, true);
    Lock lock;
    objectOf(queue)->hidesProfiling = hides;
  }
  return queue;
}

cl_command_queue CL_API_CALL createQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                         cl_int* place)
{
  PASS_ON(clCreateCommandQueue, context, device, properties, place);
  return makeQueue(F_clCreateCommandQueue, properties & CL_QUEUE_PROFILING_ENABLE, place, [&](bool adds, cl_int* code) {
    return real.clCreateCommandQueue(context, device, properties | (adds ? CL_QUEUE_PROFILING_ENABLE : 0), code);
  });
}

cl_command_queue CL_API_CALL createQueueWith(cl_context context, cl_device_id device, const cl_queue_properties* list,
                                             cl_int* place)
{
  PASS_ON(clCreateCommandQueueWithProperties, context, device, list, place);
  cl_queue_properties more[64] = {CL_QUEUE_PROPERTIES, 0, 0};
  cl_queue_properties* flags = nullptr;
  int count = 0;
  for (; list && list[count] && count < 58; count += 2)
  {
    more[count] = list[count];
    more[count + 1] = list[count + 1];
    flags = list[count] == CL_QUEUE_PROPERTIES ? &more[count + 1] : flags;
  }
  if (!flags)
  {
    more[count] = CL_QUEUE_PROPERTIES;
    flags = &more[count + 1];
    count += 2;
  }
  more[count] = 0;
  // A queue of the device has no times of the host's commands.
  const bool isAsked = *flags & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE);
  *flags |= CL_QUEUE_PROFILING_ENABLE;
  return makeQueue(F_clCreateCommandQueueWithProperties, isAsked, place, [&](bool adds, cl_int* code) {
    return real.clCreateCommandQueueWithProperties(context, device, adds ? more : list, code);
  });
}

bool hidesProfiling(cl_command_queue queue)
{
  Lock lock;
  return queue && *placeOf(queue) && (*placeOf(queue))->hidesProfiling;
}

cl_int CL_API_CALL queueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size, void* value, size_t* returned)
{
  PASS_ON(clGetCommandQueueInfo, queue, name, size, value, returned);
  const cl_int code = real.clGetCommandQueueInfo(queue, name, size, value, returned);
  note(F_clGetCommandQueueInfo, code);
  if (code == CL_SUCCESS && name == CL_QUEUE_PROPERTIES && value && hidesProfiling(queue))
    *static_cast<cl_command_queue_properties*>(value) &= ~cl_command_queue_properties(CL_QUEUE_PROFILING_ENABLE);
  return code;
}

cl_int CL_API_CALL profilingInfo(cl_event event, cl_profiling_info name, size_t size, void* value, size_t* returned)
{
  PASS_ON(clGetEventProfilingInfo, event, name, size, value, returned);
  cl_command_queue queue = nullptr;
  real.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr);
  const cl_int code = hidesProfiling(queue) ? CL_PROFILING_INFO_NOT_AVAILABLE
                                            : real.clGetEventProfilingInfo(event, name, size, value, returned);
  note(F_clGetEventProfilingInfo, code);
  return code;
}

cl_int CL_API_CALL finishQueue(cl_command_queue queue)
{
  PASS_ON(clFinish, queue);
  const cl_int code = real.clFinish(queue);
  note(F_clFinish, code);
  settle();
  return code;
}

cl_int CL_API_CALL waitForEvents(cl_uint count, const cl_event* events)
{
  PASS_ON(clWaitForEvents, count, events);
  const cl_int code = real.clWaitForEvents(count, events);
  note(F_clWaitForEvents, code);
  settle();
  return code;
}

// ---- programs

struct Build
{
  const uint64_t began = now();
  ~Build()
  {
    const uint64_t time = now() - began;
    Lock lock;
    Stat* const stat = statOf("build", "");
    add(stat, 0);
    addTime(stat, time);
    write(*stat);
  }
};

cl_int CL_API_CALL buildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                void(CL_CALLBACK* notify)(cl_program, void*), void* data)
{
  PASS_ON(clBuildProgram, program, count, devices, options, notify, data);
  const Build build;
  const cl_int code = real.clBuildProgram(program, count, devices, options, notify, data);
  note(F_clBuildProgram, code);
  return code;
}

const char* keptKernel = nullptr;
const char* keptTo = "";
uint64_t keptLaunch = 1;
bool isKept = false;

// A text that the program gave; the caller frees it.
char* sourceOf(cl_program program)
{
  size_t size = 0;
  if (real.clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) != CL_SUCCESS || size < 2)
    return nullptr;
  char* const text = static_cast<char*>(calloc(size + 1, 1));
  if (text && real.clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text, nullptr) != CL_SUCCESS)
    *text = 0;
  return text;
}

// A file of this name in our folder, and the folders that it names.
FILE* fileIn(const char* kind, const char* name)
{
  char path[4096];
  snprintf(path, sizeof path, "%s/%s%s", folder, kind, name);
  for (char* slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/')
  {
    *slash = 0;
    mkdir(path, 0755);
  }
  return fopen(path, "w");
}

cl_int CL_API_CALL compileProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                  cl_uint headerCount, const cl_program* headers, const char** names,
                                  void(CL_CALLBACK* notify)(cl_program, void*), void* data)
{
  PASS_ON(clCompileProgram, program, count, devices, options, headerCount, headers, names, notify, data);
  const Build build;
  const cl_int code =
    real.clCompileProgram(program, count, devices, options, headerCount, headers, names, notify, data);
  note(F_clCompileProgram, code);
  // A launch that is kept has its headers in place.
  for (cl_uint i = 0; keptKernel && code == CL_SUCCESS && i < headerCount; i++)
  {
    char* const text = strstr(names[i], "..") ? nullptr : sourceOf(headers[i]);
    FILE* const header = text ? fileIn("headers/", names[i]) : nullptr;
    if (header)
    {
      fputs(text, header);
      fclose(header);
    }
    free(text);
  }
  return code;
}

cl_program CL_API_CALL linkProgram(cl_context context, cl_uint count, const cl_device_id* devices, const char* options,
                                   cl_uint inputCount, const cl_program* inputs, void(CL_CALLBACK* notify)(cl_program, void*),
                                   void* data, cl_int* place)
{
  PASS_ON(clLinkProgram, context, count, devices, options, inputCount, inputs, notify, data, place);
  const Build build;
  cl_int code = CL_SUCCESS;
  const cl_program program =
    real.clLinkProgram(context, count, devices, options, inputCount, inputs, notify, data, &code);
  note(F_clLinkProgram, code);
  if (place)
    *place = code;
  if (!program)
    return program;
  hold(program, true);
  Lock lock;
  Object* const object = objectOf(program);
  object->inputs = static_cast<cl_program*>(calloc(inputCount + 1, sizeof *inputs));
  object->inputCount = object->inputs ? inputCount : 0;
  for (cl_uint i = 0; i < object->inputCount; i++)
    object->inputs[i] = inputs[i];
  return program;
}

// ---- kernels

cl_int CL_API_CALL createKernels(cl_program program, cl_uint count, cl_kernel* kernels, cl_uint* returned)
{
  PASS_ON(clCreateKernelsInProgram, program, count, kernels, returned);
  cl_uint made = 0;
  const cl_int code = real.clCreateKernelsInProgram(program, count, kernels, &made);
  note(F_clCreateKernelsInProgram, code);
  for (cl_uint i = 0; code == CL_SUCCESS && kernels && i < made; i++)
    hold(kernels[i], true);
  if (returned)
    *returned = made;
  return code;
}

void noteArgument(cl_kernel kernel, cl_uint index, Arg::Kind kind, size_t size, const void* value)
{
  Lock lock;
  Object* const object = objectOf(kernel);
  if (index >= object->argCount)
  {
    Arg* const args = static_cast<Arg*>(realloc(object->args, (index + 1) * sizeof(Arg)));
    if (!args)
      return;
    memset(args + object->argCount, 0, (index + 1 - object->argCount) * sizeof(Arg));
    object->args = args;
    object->argCount = index + 1;
  }
  Arg& arg = object->args[index];
  free(arg.bytes);
  arg = {kind, size, static_cast<unsigned char*>(value ? malloc(size) : nullptr)};
  if (arg.bytes)
    memcpy(arg.bytes, value, size);
}

cl_int CL_API_CALL setArgument(cl_kernel kernel, cl_uint index, size_t size, const void* value)
{
  PASS_ON(clSetKernelArg, kernel, index, size, value);
  const cl_int code = real.clSetKernelArg(kernel, index, size, value);
  note(F_clSetKernelArg, code);
  if (keptKernel && !isKept && code == CL_SUCCESS)
    noteArgument(kernel, index, value ? Arg::Value : Arg::Local, size, value);
  return code;
}

cl_int CL_API_CALL setPointer(cl_kernel kernel, cl_uint index, const void* value)
{
  PASS_ON(clSetKernelArgSVMPointer, kernel, index, value);
  const cl_int code = real.clSetKernelArgSVMPointer(kernel, index, value);
  note(F_clSetKernelArgSVMPointer, code);
  if (keptKernel && code == CL_SUCCESS)
    noteArgument(kernel, index, Arg::Svm, 0, nullptr);
  return code;
}

cl_kernel CL_API_CALL cloneKernel(cl_kernel source, cl_int* place)
{
  PASS_ON(clCloneKernel, source, place);
  cl_int code = CL_SUCCESS;
  const cl_kernel kernel = real.clCloneKernel(source, &code);
  note(F_clCloneKernel, code);
  if (place)
    *place = code;
  if (kernel)
    hold(kernel, true);
  const cl_uint count = kernel && *placeOf(source) ? (*placeOf(source))->argCount : 0;
  for (cl_uint i = 0; i < count; i++)
  {
    const Arg arg = (*placeOf(source))->args[i];
    if (arg.kind != Arg::None)
      noteArgument(kernel, i, arg.kind, arg.size, arg.bytes);
  }
  return kernel;
}

Stat* statOf(cl_kernel kernel)
{
  {
    Lock lock;
    if (Stat* const stat = objectOf(kernel)->stat)
      return stat;
  }
  char name[256] = "";
  if (real.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr) != CL_SUCCESS)
    snprintf(name, sizeof name, "(a longer name)");
  Lock lock;
  return objectOf(kernel)->stat = statOf("kernel", name);
}

// ---- a launch that is kept

// The folders of `-I`, one after the other; each call begins behind the last.
bool nextFolder(const char*& options, char* found, size_t size)
{
  const char* at = options;
  while ((at = strstr(at, "-I")) && at != options && at[-1] != ' ')
    at += 2;
  if (!at)
    return false;
  at += 2 + strspn(at + 2, " ");
  const char quote = *at == '"' || *at == '\'' ? *at++ : ' ';
  const size_t length = strchr(at, quote) ? size_t(strchr(at, quote) - at) : strlen(at);
  snprintf(found, size, "%.*s", int(length), at);
  options = at + length;
  return true;
}

// What a file holds, if it is one; the caller frees it.
char* contentOf(const char* path, size_t& size)
{
  FILE* const file = fopen(path, "r");
  struct stat facts = {};
  if (!file)
    return nullptr;
  fstat(fileno(file), &facts);
  size = size_t(facts.st_size);
  char* text = S_ISREG(facts.st_mode) ? static_cast<char*>(calloc(size + 1, 1)) : nullptr;
  if (text && fread(text, 1, size, file) != size)
  {
    free(text);
    text = nullptr;
  }
  fclose(file);
  return text;
}

// The text of an included file: a header of the program, or a file beside the one that names it, or of a folder of `-I`.
char* includedText(const char* name, const char* beside, const char* options, char* path, size_t room)
{
  char place[1024];
  for (int at = 0;; at++)
  {
    if (at == 0)
      snprintf(place, sizeof place, "%s/headers", folder);
    else if (at == 1)
      snprintf(place, sizeof place, "%s", beside);
    else if (!nextFolder(options, place, sizeof place))
      return nullptr;
    snprintf(path, room, "%s/%s", place, name);
    size_t size = 0;
    if (char* const text = contentOf(path, size))
      return text;
  }
}

// Writes a text with what it includes in place. What is not there stays, in a comment: its branch was not taken.
void expand(FILE* out, const char* text, const char* beside, const char* options, int deep)
{
  static char once[256][256];
  static int onceCount = 0;
  while (*text)
  {
    const size_t length = strcspn(text, "\n");
    char line[1024], name[512] = "", path[2048];
    snprintf(line, sizeof line, "%.*s", int(length), text);
    const bool isInclude = sscanf(line, " # include \"%511[^\"]\"", name) == 1 || sscanf(line, " # include <%511[^>]>", name) == 1;
    char* const included = isInclude && deep < 32 ? includedText(name, beside, options, path, sizeof path) : nullptr;
    if (!isInclude)
      fprintf(out, "%.*s\n", int(length), text);
    else if (!included)
      fprintf(out, "/* not found: include %s */\n", name);
    bool isSeen = false;
    for (int i = 0; included && i < onceCount; i++)
      isSeen |= !strcmp(once[i], path);
    if (included && !isSeen)
    {
      if (strstr(included, "#pragma once") && onceCount < 256 && strlen(path) < sizeof *once)
        strcpy(once[onceCount++], path);
      if (char* const slash = strrchr(path, '/'))
        *slash = 0;
      expand(out, included, path, options, deep + 1);
    }
    free(included);
    text += length + (text[length] == '\n');
  }
}

struct Launch
{
  cl_command_queue queue;
  cl_kernel kernel;
  cl_uint dimensions;
  const size_t *offset, *global, *local;
  cl_uint waitCount;
  const cl_event* waitList;
};

// A type of numbers: its names in OpenCL C, NumPy's name, and its size.
struct Number
{
  const char* names[3];
  const char* numpy;
  size_t size;
};
const Number numbers[] = {{{"char", "char", "signed char"}, "i1", 1},    {{"uchar", "unsigned char", "bool"}, "u1", 1},
                          {{"short", "short", "signed short"}, "i2", 2}, {{"ushort", "unsigned short", "ushort"}, "u2", 2},
                          {{"int", "int", "signed int"}, "i4", 4},       {{"uint", "unsigned int", "unsigned"}, "u4", 4},
                          {{"long", "long", "signed long"}, "i8", 8},    {{"ulong", "unsigned long", "size_t"}, "u8", 8},
                          {{"half", "half", "half"}, "f2", 2},           {{"float", "float", "float"}, "f4", 4},
                          {{"double", "double", "double"}, "f8", 8}};
const Number bytes = {{"uchar"}, "u1", 1};

// A parameter of the kept kernel, with what it holds.
struct Parameter
{
  char name[128], type[128];
  const Number* number; // bytes where the type is another
  size_t lanes;
  cl_kernel_arg_address_qualifier space;
  cl_mem buffer;
  cl_uint same; // the first parameter with this buffer
  size_t size;  // bytes of the buffer
  unsigned char *before, *after;
};
Parameter parameters[256];

bool isTaken(const char* name)
{
  const char* const taken[] = {"n",    "m",     "size", "T",     "INDEX",   "WG", "WG_X", "WG_Y",  "ceil",   "min",    "max",
                               "log2", "clog2", "pow2", "is_pow2", "or", "and",  "not",   "local",  "struct", "sampler"};
  for (const char* word : taken)
    if (!strcmp(word, name))
      return true;
  return false;
}

// Puts what `typedef` says of a name in its place, unless that is a struct.
void resolve(const char* text, char* base, size_t room)
{
  for (const char* at = text; (at = strstr(at, "typedef")); at++)
  {
    char body[128], name[128] = "";
    snprintf(body, sizeof body, "%.*s", int(strcspn(at + 7, ";{")), at + 7);
    char* const last = strrchr(body, ' ');
    if (!last || sscanf(last, "%127s", name) != 1 || strcmp(name, base))
      continue;
    *last = 0;
    snprintf(base, room, "%s", body + strspn(body, " \t"));
    at = text;
  }
}

// Takes the type's name apart, as in float4*.
void readType(Parameter& parameter, const char* text)
{
  char base[128];
  snprintf(base, sizeof base, "%.*s", int(strcspn(parameter.type, "*")), parameter.type);
  resolve(text, base, sizeof base);
  parameter.number = &bytes;
  for (const Number& number : numbers)
    for (const char* name : number.names)
    {
      const size_t length = strlen(name);
      const size_t lanes = strncmp(base, name, length) ? 0 : base[length] ? strtoul(base + length, nullptr, 10) : 1;
      if (lanes && strspn(base + length, "0123456789") == strlen(base + length))
      {
        parameter.number = &number;
        parameter.lanes = lanes;
      }
    }
}

// Builds the text once more by itself, as a family is built, and asks for the names and types of the kernel's parameters.
const char* readParameters(const Launch& launch, const char* options, cl_uint& count)
{
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  real.clGetCommandQueueInfo(launch.queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  real.clGetCommandQueueInfo(launch.queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  char path[4096], more[8192];
  snprintf(path, sizeof path, "%s_kept.cl", keptTo);
  snprintf(more, sizeof more, "%s -cl-kernel-arg-info", options);
  size_t size = 0;
  char* const text = contentOf(path, size);
  if (!text)
    return "its text cannot be written";
  const char* texts[] = {text};
  cl_int code = CL_SUCCESS;
  const cl_program program = real.clCreateProgramWithSource(context, 1, texts, nullptr, &code);
  code = code ? code : real.clBuildProgram(program, 1, &device, more, nullptr, nullptr);
  const cl_kernel kernel = code ? nullptr : real.clCreateKernel(program, keptKernel, &code);
  if (!kernel)
    return "its text with what it includes does not build by itself";
  real.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  count = count < 256 ? count : 256;
  for (cl_uint i = 0; i < count && !code; i++)
  {
    Parameter& one = parameters[i];
    one.lanes = 1;
    code = real.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof one.name - 1, one.name, nullptr);
    code |= real.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof one.type, one.type, nullptr);
    code |= real.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof one.space, &one.space, nullptr);
    if (isTaken(one.name))
      strcat(one.name, "_");
    readType(one, text);
  }
  free(text);
  real.clReleaseKernel(kernel);
  real.clReleaseProgram(program);
  return code ? "the driver does not tell the types of its parameters" : nullptr;
}

// What lives under the handle that an argument may be.
const Object* objectIn(const Arg& arg)
{
  void* handle = nullptr;
  if (arg.kind != Arg::Value || arg.size != sizeof handle || !arg.bytes)
    return nullptr;
  memcpy(&handle, arg.bytes, sizeof handle);
  Lock lock;
  return handle ? *placeOf(handle) : nullptr;
}

// Finds the buffers among the arguments, or what cannot be kept of them.
const char* findBuffers(const Object* kernel, cl_uint count)
{
  static char why[512];
  for (cl_uint i = 0; i < count; i++)
  {
    Parameter& one = parameters[i];
    const Arg arg = kernel && i < kernel->argCount ? kernel->args[i] : Arg{Arg::None, 0, nullptr};
    const Object* const object = objectIn(arg);
    const bool isMemory = object && !strcmp(object->kind, kindOf(cl_mem()));
    const bool isPointer = one.space == CL_KERNEL_ARG_ADDRESS_GLOBAL || one.space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
    cl_mem_object_type type = 0;
    one.buffer = isMemory ? static_cast<cl_mem>(const_cast<void*>(object->handle)) : nullptr;
    if (isMemory)
    {
      real.clGetMemObjectInfo(one.buffer, CL_MEM_TYPE, sizeof type, &type, nullptr);
      real.clGetMemObjectInfo(one.buffer, CL_MEM_SIZE, sizeof one.size, &one.size, nullptr);
    }
    const bool isKept = isPointer ? type == CL_MEM_OBJECT_BUFFER
                                  : one.space == CL_KERNEL_ARG_ADDRESS_LOCAL ? arg.kind == Arg::Local : arg.bytes && !object;
    if (!isKept)
    {
      snprintf(why, sizeof why, "its argument %s (%s) is an image, a sampler, a pipe, a null pointer or one of shared memory",
               one.name, one.type);
      return why;
    }
    one.same = 0;
    while (parameters[one.same].buffer != one.buffer)
      one.same++;
  }
  return nullptr;
}

// Reads what the buffers hold.
const char* readBuffers(const Launch& launch, cl_uint count, unsigned char* Parameter::*where)
{
  for (cl_uint i = 0; i < count; i++)
  {
    Parameter& one = parameters[i];
    if (!one.buffer || one.same < i)
      continue;
    one.*where = static_cast<unsigned char*>(malloc(one.size));
    if (!(one.*where))
      return "the host has too little memory for its data";
    if (real.clEnqueueReadBuffer(launch.queue, one.buffer, CL_TRUE, 0, one.size, one.*where, 0, nullptr, nullptr))
      return "the host cannot read one of its buffers";
  }
  return nullptr;
}

// Whether all that was enqueued before has ended, which another thread of the program may have to see to.
const char* await(const Launch& launch)
{
  cl_event marker = nullptr;
  if (real.clEnqueueMarkerWithWaitList(launch.queue, launch.waitCount, launch.waitList, &marker) != CL_SUCCESS)
    return "its queue takes no marker";
  real.clFlush(launch.queue);
  cl_int status = CL_QUEUED;
  for (int turn = 0; turn < 100000 && status > CL_COMPLETE; turn++)
  {
    real.clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    usleep(status > CL_COMPLETE ? 100 : 0);
  }
  real.clReleaseEvent(marker);
  return status == CL_COMPLETE ? nullptr : "what it waits for did not end within 10 s";
}

const char* writeText(cl_program program, const char* options)
{
  char path[4096];
  snprintf(path, sizeof path, "%s_kept.cl", keptTo);
  FILE* const out = fopen(path, "w");
  if (!out)
    return "its text cannot be written";
  Object* const linked = *placeOf(program);
  bool isThere = false;
  for (cl_uint i = 0; i <= (linked ? linked->inputCount : 0); i++)
  {
    char* const text = sourceOf(i ? linked->inputs[i - 1] : program);
    isThere |= text != nullptr;
    if (text)
      expand(out, text, ".", options, 0);
    free(text);
  }
  fclose(out);
  return isThere ? nullptr : "its program was made from a binary, SPIR-V or built-in kernels, and has no text";
}

// The work-group: where the driver chose, that which the kernel demands, or the largest along the first side that has at most 256
// items. Or why there is none.
const char* findGroup(const Launch& launch, size_t* group)
{
  cl_device_id device = nullptr;
  size_t demanded[3] = {0, 0, 0};
  real.clGetCommandQueueInfo(launch.queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  real.clGetKernelWorkGroupInfo(launch.kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof demanded, demanded, nullptr);
  const size_t* const known = launch.local ? launch.local : demanded[0] ? demanded : nullptr;
  for (cl_uint i = 0; i < launch.dimensions; i++)
  {
    group[i] = known ? known[i] : 1;
    for (size_t side = 1; !known && i == 0 && side <= 256 && side <= launch.global[0]; side++)
      group[0] = launch.global[0] % side ? group[0] : side;
    if (launch.offset && launch.offset[i])
      return "its work-items begin at an offset, which a family cannot say";
    if (launch.global[i] % group[i])
      return "its last groups are smaller than the first, which a family cannot say";
  }
  return nullptr;
}

// A text between quotes of TOML.
void quote(FILE* out, const char* text)
{
  fputc('"', out);
  for (; *text; text++)
    fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  fputc('"', out);
}

// Macros as a table, and the options that a family can say.
void writeOptions(FILE* out, char* options)
{
  char kept[4096] = "";
  const char* comma = "";
  fputs("define  = {", out);
  char* rest = nullptr;
  for (char* word = strtok_r(options, " ", &rest); word; word = strtok_r(nullptr, " ", &rest))
  {
    const size_t used = strlen(kept);
    if (!strncmp(word, "-cl-", 4) || !strcmp(word, "-w") || !strcmp(word, "-Werror"))
      snprintf(kept + used, sizeof kept - used, "%s%s", used ? " " : "", word);
    char* const name = strncmp(word, "-D", 2) ? nullptr : word[2] ? word + 2 : strtok_r(nullptr, " ", &rest);
    if (!name)
      continue;
    char* const value = strchr(name, '=');
    if (value)
      *value = 0;
    fprintf(out, "%s %s = ", comma, name);
    quote(out, value ? value + 1 : "1");
    comma = ",";
  }
  fputs(" }\noptions = ", out);
  quote(out, kept);
}

// The numbers of a value; of an unknown struct its bytes.
void writeValue(FILE* out, const Parameter& one, const Arg& arg)
{
  const Number& number = one.number->size * one.lanes > arg.size || one.number->numpy[1] == '2' ? bytes : *one.number;
  const size_t count = &number == &bytes && one.number != &numbers[1] ? arg.size : one.lanes;
  if (&number == &bytes && one.number != &numbers[1])
    fprintf(out, "struct <%zuB> ", arg.size);
  fputs(count > 1 ? "{" : "", out);
  for (size_t i = 0; i < count; i++)
  {
    const unsigned char* const at = arg.bytes + i * number.size;
    const auto as = [&](auto value) {
      memcpy(&value, at, sizeof value);
      return value;
    };
    fputs(i ? ", " : "", out);
    if (number.numpy[0] == 'f')
      number.size == 4 ? fprintf(out, "%.9g", double(as(0.0f))) : fprintf(out, "%.17g", as(0.0));
    else if (number.numpy[0] == 'u')
      fprintf(out, "%llu", number.size == 1 ? *at : number.size == 4 ? as(0u) : (unsigned long long)as(uint64_t(0)));
    else
      fprintf(out, "%lld", number.size == 1 ? as(int8_t(0)) : number.size == 4 ? as(0) : (long long)as(int64_t(0)));
  }
  fputs(count > 1 ? "}" : "", out);
}

// Writes whole elements in NumPy's format.
const char* writeArray(const Parameter& one, const char* when, const unsigned char* data)
{
  char path[4096], head[128];
  snprintf(path, sizeof path, "%s_%s_%s.npy", keptTo, one.name, when);
  const size_t count = one.size / (one.number->size * one.lanes) * one.lanes;
  snprintf(head, sizeof head, "{'descr': '<%s', 'fortran_order': False, 'shape': (%zu,), }", one.number->numpy, count);
  FILE* const out = fopen(path, "w");
  if (!out)
    return "its data cannot be written";
  // Ten bytes before the header, and with it 128.
  fprintf(out, "\x93NUMPY\x01%c%c%c%-117s\n", 0, 118, 0, head);
  const bool isWritten = fwrite(data, one.number->size, count, out) == count;
  return fclose(out) || !isWritten ? "its data cannot be written" : nullptr;
}

// Writes the arguments with their data, and then the files with the results.
const char* writeArguments(FILE* out, const Object* kernel, cl_uint count)
{
  const char* const slash = strrchr(keptTo, '/');
  const char* const stem = slash ? slash + 1 : keptTo;
  const char* why = nullptr;
  fputs("\nargs    = [\n", out);
  for (cl_uint i = 0; i < count && !why; i++)
  {
    const Parameter& one = parameters[i];
    const bool isChanged = one.before && memcmp(one.before, one.after, one.size);
    fputs("  \"", out);
    if (one.buffer && one.same < i)
      fputs(parameters[one.same].name, out);
    else if (one.buffer)
    {
      fprintf(out, "%s%s%s[%zu] file %s_%s_before.npy frozen", isChanged ? "inout " : "", one.number == &bytes ? "u8 " : "",
              one.name, one.size / (one.number->size * one.lanes), stem, one.name);
      why = writeArray(one, "before", one.before);
    }
    else if (one.space == CL_KERNEL_ARG_ADDRESS_LOCAL)
      fprintf(out, "local %s[%zu]", one.number->names[0], kernel->args[i].size / one.number->size);
    else
      writeValue(out, one, kernel->args[i]);
    fprintf(out, "\",  # %s %s\n", one.type, one.name);
  }
  fputs("]\ncheck   = \"file: ", out);
  const char* comma = "";
  for (cl_uint i = 0; i < count && !why; i++)
  {
    const Parameter& one = parameters[i];
    if (!one.before || !memcmp(one.before, one.after, one.size))
      continue;
    why = writeArray(one, "after", one.after);
    fprintf(out, "%s%s = %s_%s_after.npy", comma, one.name, stem, one.name);
    comma = "; ";
  }
  fputs("\"\n", out);
  return why ? why : *comma ? nullptr : "it changed no buffer";
}

const char* writeFamily(const Launch& launch, char* options, const size_t* group, cl_uint count)
{
  char path[4096], device[256] = "";
  cl_device_id id = nullptr;
  real.clGetCommandQueueInfo(launch.queue, CL_QUEUE_DEVICE, sizeof id, &id, nullptr);
  real.clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof device, device, nullptr);
  snprintf(path, sizeof path, "%s.toml", keptTo);
  const char* const slash = strrchr(keptTo, '/');
  const char* const stem = slash ? slash + 1 : keptTo;
  FILE* const out = fopen(path, "w");
  if (!out)
    return "its file cannot be written";
  fprintf(out, "# Kept: launch %llu of %s on %s: its data, its size and its own result\nkernel  = \"%s_kept.cl:%s\"\n",
          (unsigned long long)keptLaunch, keptKernel, device, stem, keptKernel);
  size_t all = 1;
  for (cl_uint i = 0; i < launch.dimensions; i++)
    all *= launch.global[i];
  fprintf(out, "sizes   = \"only\"\nn       = %zu\nitems   = \"%zu", all, launch.global[0]);
  for (cl_uint i = 1; i < launch.dimensions; i++)
    fprintf(out, ", %zu", launch.global[i]);
  // As a setting with one value, or gpulab would try others, too.
  if (group[1] * group[2] == 1)
    fprintf(out, "\"\ntune    = { WG = [%zu] }\n", group[0]);
  else
    fprintf(out, "\"\nwg      = \"%zux%zux%zu\"\n", group[0], group[1], group[2]);
  writeOptions(out, options);
  const char* const why = writeArguments(out, *placeOf(launch.kernel), count);
  return fclose(out) ? "its file cannot be written" : why;
}

// The program of a launch, and the options that it, or the first that it was linked from, was built with.
cl_program programOf(const Launch& launch, char* options, size_t room)
{
  cl_program program = nullptr;
  cl_device_id device = nullptr;
  real.clGetKernelInfo(launch.kernel, CL_KERNEL_PROGRAM, sizeof program, &program, nullptr);
  real.clGetCommandQueueInfo(launch.queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  const Object* const linked = *placeOf(program);
  const cl_program built = linked && linked->inputCount ? linked->inputs[0] : program;
  real.clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_OPTIONS, room, options, nullptr);
  return program;
}

// Carries out a launch, and keeps it if it is the one.
template <Function number, class Enqueue> cl_int carryOutLaunch(const Launch& launch, cl_event* event, Enqueue enqueue)
{
  Stat* const stat = statOf(launch.kernel);
  bool keeps;
  {
    Lock lock;
    keeps = keptKernel && !isKept && !strcmp(stat->name, keptKernel) && stat->count + 1 == keptLaunch;
    isKept |= keeps;
  }
  char options[4096] = "";
  size_t group[3] = {1, 1, 1};
  cl_uint count = 0;
  const char* why = nullptr;
  if (keeps)
  {
    why = findGroup(launch, group);
    why = why ? why : writeText(programOf(launch, options, sizeof options), options);
    why = why ? why : readParameters(launch, options, count);
    why = why ? why : findBuffers(*placeOf(launch.kernel), count);
    why = why ? why : await(launch);
    why = why ? why : readBuffers(launch, count, &Parameter::before);
  }
  cl_event own = nullptr;
  cl_event* const place = event ? event : &own;
  const cl_int code = enqueue(place);
  note(number, code);
  if (keeps)
  {
    why = why ? why : code || real.clWaitForEvents(1, place) ? "it failed" : readBuffers(launch, count, &Parameter::after);
    why = why ? why : writeFamily(launch, options, group, count);
    if (FILE* const out = fileIn("", "kept"))
    {
      fputs(why ? why : "", out);
      fclose(out);
    }
  }
  if (code != CL_SUCCESS)
    return code;
  {
    Lock lock;
    add(stat, 0);
  }
  noteCommand(*place, !event, stat, false);
  return code;
}

cl_int CL_API_CALL launchKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                const size_t* global, const size_t* local, cl_uint count, const cl_event* list, cl_event* event)
{
  PASS_ON(clEnqueueNDRangeKernel, queue, kernel, dimensions, offset, global, local, count, list, event);
  const Launch launch = {queue, kernel, dimensions, offset, global, local, count, list};
  return carryOutLaunch<F_clEnqueueNDRangeKernel>(launch, event, [&](cl_event* place) {
    return real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, list, place);
  });
}

cl_int CL_API_CALL launchTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list, cl_event* event)
{
  PASS_ON(clEnqueueTask, queue, kernel, count, list, event);
  static const size_t one = 1;
  const Launch launch = {queue, kernel, 1, nullptr, &one, &one, count, list};
  return carryOutLaunch<F_clEnqueueTask>(launch, event, [&](cl_event* place) {
    return real.clEnqueueTask(queue, kernel, count, list, place);
  });
}

// ---- the two ways in

#define OWN(f) \
  f(clCreateCommandQueue, createQueue) f(clCreateCommandQueueWithProperties, createQueueWith) f(clGetCommandQueueInfo, queueInfo) \
  f(clGetEventProfilingInfo, profilingInfo) f(clFinish, finishQueue) f(clWaitForEvents, waitForEvents) \
  f(clBuildProgram, buildProgram) f(clCompileProgram, compileProgram) f(clLinkProgram, linkProgram) \
  f(clCreateKernelsInProgram, createKernels) f(clSetKernelArg, setArgument) f(clSetKernelArgSVMPointer, setPointer) \
  f(clCloneKernel, cloneKernel) f(clEnqueueNDRangeKernel, launchKernel) f(clEnqueueTask, launchTask)

void begin()
{
  folder = getenv("GPULAB_LAYER");
  keptKernel = getenv("GPULAB_KEEP");
  keptTo = getenv("GPULAB_KEEP_TO");
  const char* const launch = getenv("GPULAB_LAUNCH");
  keptLaunch = launch ? strtoull(launch, nullptr, 10) : 1;
  if (!folder || file >= 0)
    return;
  open();
  // A child has a file of its own.
  pthread_atfork([] { pthread_mutex_lock(&Lock::mutex); }, [] { pthread_mutex_unlock(&Lock::mutex); }, [] {
    pthread_mutex_unlock(&Lock::mutex);
    memset(stats, 0, sizeof stats);
    statCount = 0;
    for (Object*& object : objects)
      object = nullptr;
    pending = nullptr;
    close(file);
    file = -1;
    open();
  });
}

// Wheels and other programs bring loaders under names of their own.
int findBrought(dl_phdr_info* info, size_t, void* found)
{
  const char* const name = strrchr(info->dlpi_name, '/');
  if (!name || strncmp(name, "/libOpenCL", 10))
    return 0;
  *static_cast<void**>(found) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return 1;
}

cl_icd_dispatch loader;
pthread_once_t foundLoader = PTHREAD_ONCE_INIT;

void findLoader()
{
  void* library = RTLD_NEXT;
  if (!dlsym(library, "clGetPlatformIDs"))
  {
    library = nullptr;
    dl_iterate_phdr(findBrought, &library);
    library = library ? library : dlopen("libOpenCL.so.1", RTLD_LAZY);
  }
#define FIND(name) loader.name = reinterpret_cast<decltype(loader.name)>(library ? dlsym(library, #name) : nullptr);
  PLAIN(FIND) OTHER(FIND)
  // The loader's first call makes its layers.
  const Inside inside;
  if (loader.clGetPlatformIDs)
    loader.clGetPlatformIDs(0, nullptr, nullptr);
  if (isLayer)
    return;
  real = loader;
  begin();
}
} // namespace

// What is preloaded stands in front of the loader's functions of the same names; the linker asks which code they have. Where the
// loader takes layers, it passes calls on to the loader, which passes them to the layer.
template <auto member, auto wrapped, class F> struct Preloaded;
template <auto member, auto wrapped, class R, class... A> struct Preloaded<member, wrapped, R(CL_API_CALL*)(A...)>
{
  static R CL_API_CALL call(A... args)
  {
    pthread_once(&foundLoader, findLoader);
    return isLayer || !(loader.*member) ? (loader.*member)(args...) : wrapped(args...);
  }
};

#define EXPORT(name, wrapped) \
  extern "C" \
  { \
  static decltype(&name) choose_##name() { return &Preloaded<&cl_icd_dispatch::name, &wrapped, decltype(&name)>::call; } \
  VISIBLE __attribute__((ifunc("choose_" #name))) decltype(name) name; \
  }
#define EXPORT_PLAIN(name) EXPORT(name, PLAIN_TYPE(name)::call)
#define EXPORT_RELEASE(name) EXPORT(name, RELEASE_TYPE(name)::call)
#define EXPORT_COMMAND(name, kind, size, at) EXPORT(name, (COMMAND_TYPE(name, size, at)::call))
PLAIN(EXPORT_PLAIN)
RELEASES(EXPORT_RELEASE)
COMMANDS(EXPORT_COMMAND)
OWN(EXPORT)

extern "C" VISIBLE cl_int CL_API_CALL clGetLayerInfo(cl_uint name, size_t size, void* value, size_t* returned)
{
  const cl_uint version = 100; // of layers
  const char title[] = "gpulab";
  const void* const answer = name == 0x4240 ? static_cast<const void*>(&version) : title;
  const size_t length = name == 0x4240 ? sizeof version : sizeof title;
  if ((name != 0x4240 && name != 0x4241) || (value && size < length))
    return CL_INVALID_VALUE;
  if (value)
    memcpy(value, answer, length);
  if (returned)
    *returned = length;
  return CL_SUCCESS;
}

extern "C" VISIBLE cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* known,
                                                  const cl_icd_dispatch** layer)
{
  static cl_icd_dispatch table;
  const cl_uint all = sizeof table / sizeof(void*);
  if (!target || !known || !layer)
    return CL_INVALID_VALUE;
  isLayer = true;
  begin();
  memcpy(&real, target, (count < all ? count : all) * sizeof(void*));
  table = real;
#define PUT(name, wrapped) table.name = real.name ? &wrapped : nullptr;
#define PUT_PLAIN(name) PUT(name, PLAIN_TYPE(name)::call)
#define PUT_RELEASE(name) PUT(name, RELEASE_TYPE(name)::call)
#define PUT_COMMAND(name, kind, size, at) PUT(name, (COMMAND_TYPE(name, size, at)::call))
  PLAIN(PUT_PLAIN)
  RELEASES(PUT_RELEASE)
  COMMANDS(PUT_COMMAND)
  OWN(PUT)
  *known = count < all ? count : all;
  *layer = &table;
  return CL_SUCCESS;
}
