
// Functions on integers that LLVM's optimiser makes of plain C, as llvm.usub.sat.i32, and that Oclgrind lacks.
namespace
{
using Operand = std::function<uint64_t(unsigned)>;

// Of operands with so many bits.
uint64_t computed(const std::string& name, unsigned bits, const Operand& operand)
{
  const uint64_t all = ~uint64_t(0) >> (64 - bits), a = operand(0);
  const auto is = [&](const char* prefix) { return startsWith(name, prefix); };
  const auto withSign = [&](uint64_t value) { return int64_t(value << (64 - bits)) >> (64 - bits); };
  const auto within = [&](__int128 value) {
    const __int128 most = all >> 1;
    return uint64_t(std::max(-most - 1, std::min(most, value)));
  };
  if (is("llvm.usub.sat"))
    return a > operand(1) ? a - operand(1) : 0;
  if (is("llvm.uadd.sat"))
    return a > all - operand(1) ? all : a + operand(1);
  if (is("llvm.ssub.sat"))
    return within(__int128(withSign(a)) - withSign(operand(1)));
  if (is("llvm.sadd.sat"))
    return within(__int128(withSign(a)) + withSign(operand(1)));
  if (is("llvm.abs"))
    return withSign(a) < 0 ? -a : a;
  if (is("llvm.ctpop"))
    return uint64_t(__builtin_popcountll(a));
  if (is("llvm.ctlz"))
    return a ? uint64_t(__builtin_clzll(a)) - (64 - bits) : bits;
  if (is("llvm.cttz"))
    return a ? uint64_t(__builtin_ctzll(a)) : bits;
  const uint64_t by = operand(2) % bits, b = operand(1);
  if (is("llvm.fshl"))
    return by ? a << by | b >> (bits - by) : a;
  return by ? a << (bits - by) | b >> by : b; // llvm.fshr
}

void compute(WorkItem* item, const llvm::CallInst* call, const std::string& name, const std::string&, TypedValue& result,
             void*)
{
  for (unsigned i = 0; i < result.num; i++)
    result.setUInt(computed(name, 8 * result.size, [&](unsigned index) { return argument(item, call, index).getUInt(i); }),
                   i);
}

// Makes no difference to a run.
void ignore(WorkItem*, const llvm::CallInst*, const std::string&, const std::string&, TypedValue&, void*)
{
}

void addIntrinsics()
{
  for (const char* name : {"llvm.usub.sat", "llvm.uadd.sat", "llvm.ssub.sat", "llvm.sadd.sat", "llvm.abs", "llvm.ctpop",
                           "llvm.ctlz", "llvm.cttz", "llvm.fshl", "llvm.fshr"})
    workItemPrefixBuiltins.emplace_back(name, BuiltinFunction(compute, nullptr));
  for (const char* name : {"llvm.assume", "llvm.experimental.noalias.scope.decl"})
    workItemPrefixBuiltins.emplace_back(name, BuiltinFunction(ignore, nullptr));
}
} // namespace

extern "C"
{
void initializePlugins(Context* context)
{
  unrollLikeAGpu();
  counter = new Counter(context);
  context->registerPlugin(counter);
  addSubgroups();
  addIntrinsics();
}

void releasePlugins(Context* context)
{
  context->unregisterPlugin(counter);
  delete counter;
  counter = nullptr;
}
}
