// Records each launch in Oclgrind, so that it can be repeated elsewhere: a plugin that writes below the folder
// COUNT_NCU_RECORD, for launch I,
// - I.json: the kernel, its source and build options, the sizes of its groups, and what each argument is;
// - I.ARGUMENT.before and I.ARGUMENT.after: bytes of arguments; of buffers, before and after the launch.
//
// record.py builds it and reads what it writes.

#include <oclgrind/Context.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/Program.h>

#include <CL/cl.h>
#include <fstream>
#include <map>
#include <string>
#include <vector>

extern "C" const void* LLVMGetParam(const void* function, unsigned index);

// Its own header includes LLVM's.
namespace oclgrind
{
class Kernel
{
public:
  const std::string& getName() const;
  unsigned int getNumArguments() const;
  unsigned int getArgumentAddressQualifier(unsigned int index) const;
  const llvm::Function* getFunction() const;
  const Program* getProgram() const;
  void getRequiredWorkGroupSize(size_t reqdWorkGroupSize[3]) const;
  TypedValueMap::const_iterator values_begin() const;
  TypedValueMap::const_iterator values_end() const;
};
} // namespace oclgrind

namespace
{
using namespace oclgrind;

std::string quoted(const std::string& text)
{
  std::string out = "\"";
  for (const unsigned char c : text)
  {
    char code[8];
    snprintf(code, sizeof code, "\\u%04x", c);
    if (c == '"' || c == '\\' || c < ' ' || c > '~')
      out += code;
    else
      out += char(c);
  }
  return out + '"';
}

std::string triple(size_t x, size_t y, size_t z)
{
  return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
}

class Recorder : public Plugin
{
public:
  explicit Recorder(const Context* context) : Plugin(context)
  {
    const char* folder = getenv("COUNT_NCU_RECORD");
    m_folder = folder ? folder : ".";
  }

  bool isThreadSafe() const override
  {
    return false;
  }

  void kernelBegin(const KernelInvocation* launch) override
  {
    m_buffers.clear();
    m_launch++;
    const Kernel* const kernel = launch->getKernel();
    const Size3 local = launch->getLocalSize(), global = launch->getGlobalSize();
    size_t required[3] = {0, 0, 0};
    kernel->getRequiredWorkGroupSize(required);
    std::ofstream out(path(".json"));
    out << "{\"kernel\":" << quoted(kernel->getName())
        << ",\"source\":" << quoted(kernel->getProgram()->getSource())
        << ",\"options\":" << quoted(kernel->getProgram()->getBuildOptions())
        << ",\"local\":" << triple(local.x, local.y, local.z) << ",\"global\":" << triple(global.x, global.y, global.z)
        << ",\"required\":" << triple(required[0], required[1], required[2]) << ",\"arguments\":[";
    for (unsigned i = 0; i < kernel->getNumArguments(); i++)
      out << (i ? "," : "") << argument(*kernel, i);
    out << "]}\n";
  }

  void kernelEnd(const KernelInvocation*) override
  {
    for (const auto& buffer : m_buffers)
      save(buffer.first, ".after", buffer.second->data, buffer.second->size);
  }

private:
  std::string m_folder;
  unsigned m_launch = 0;
  std::map<unsigned, const Memory::Buffer*> m_buffers; // by argument

  std::string path(const std::string& rest) const
  {
    return m_folder + "/" + std::to_string(m_launch) + rest;
  }

  void save(unsigned index, const char* when, const unsigned char* data, size_t size) const
  {
    std::ofstream out(path("." + std::to_string(index) + when), std::ios::binary);
    out.write(reinterpret_cast<const char*>(data), std::streamsize(size));
  }

  // Writes an argument's bytes, and says what it is.
  std::string argument(const Kernel& kernel, unsigned index)
  {
    const void* const parameter = LLVMGetParam(kernel.getFunction(), index);
    for (auto value = kernel.values_begin(); value != kernel.values_end(); ++value)
      if (value->first == parameter)
        return argument(kernel.getArgumentAddressQualifier(index), index, value->second);
    return "{\"is\":\"missing\"}";
  }

  std::string argument(unsigned space, unsigned index, const TypedValue& value)
  {
    if (space == CL_KERNEL_ARG_ADDRESS_LOCAL)
      return "{\"is\":\"local\",\"bytes\":" + std::to_string(value.size * value.num) + "}";
    if (space == CL_KERNEL_ARG_ADDRESS_PRIVATE)
    {
      save(index, ".before", value.data, value.size * value.num);
      return "{\"is\":\"value\"}";
    }
    const Memory* const memory = m_context->getGlobalMemory();
    const size_t address = value.getPointer(), offset = memory->extractOffset(address);
    const Memory::Buffer* const buffer = memory->getBuffer(address);
    if (!buffer)
      return "{\"is\":\"missing\"}";
    m_buffers[index] = buffer;
    save(index, ".before", buffer->data, buffer->size);
    return "{\"is\":\"buffer\",\"address\":" + std::to_string(address - offset) + ",\"offset\":" +
           std::to_string(offset) + "}";
  }
};

Recorder* recorder = nullptr;
} // namespace

extern "C"
{
void initializePlugins(Context* context)
{
  recorder = new Recorder(context);
  context->registerPlugin(recorder);
}

void releasePlugins(Context* context)
{
  context->unregisterPlugin(recorder);
  delete recorder;
  recorder = nullptr;
}
}
