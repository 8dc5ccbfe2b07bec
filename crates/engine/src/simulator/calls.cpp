
#include <dlfcn.h>
#include <iostream>
#include <string>

// Calls that a host program makes by mistake and that Oclgrind answers all the same. The program is started with this library in
// front of Oclgrind's; what is wrong is printed as Oclgrind prints what it refuses.

#define BEHIND(name) (reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)))

extern "C" cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value, size_t *returned)
{
  cl_command_queue queue = nullptr;
  cl_command_queue_properties properties = 0;
  cl_int status = CL_COMPLETE;
  BEHIND(clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr);
  BEHIND(clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  BEHIND(clGetCommandQueueInfo)(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr);
  const char *const wrong = !(properties & CL_QUEUE_PROFILING_ENABLE) ? "its queue was made without CL_QUEUE_PROFILING_ENABLE"
                            : status != CL_COMPLETE                   ? "nobody waited for the event"
                                                                      : nullptr;
  if (!wrong)
    return BEHIND(clGetEventProfilingInfo)(event, name, size, value, returned);
  std::cerr << "Oclgrind - OpenCL runtime error detected\n\tFunction: clGetEventProfilingInfo\n\tError: "
               "CL_PROFILING_INFO_NOT_AVAILABLE\n\t" << wrong << "\n" << std::flush;
  return CL_PROFILING_INFO_NOT_AVAILABLE;
}

// Oclgrind has no OpenCL C 3.0, and refuses programs that ask for it.
extern "C" cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                 void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
  std::string lowered = options ? options : "";
  const std::size_t at = lowered.find("-cl-std=CL3.0");
  if (at != std::string::npos)
  {
    lowered.replace(at, 13, "-cl-std=CL2.0");
    std::cerr << "the simulator has no OpenCL C 3.0, and builds the program as 2.0\n" << std::flush;
  }
  return BEHIND(clBuildProgram)(program, count, devices, options ? lowered.c_str() : nullptr, notify, data);
}
