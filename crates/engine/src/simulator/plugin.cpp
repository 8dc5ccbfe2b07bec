// Counts what a machine whose work-items run in lockstep would do with a kernel: a plugin for Oclgrind, which interprets
// kernels item by item and tells plugins of each instruction and each access to memory. `gpulab count` builds it against
// Oclgrind's headers and LLVM's C interface, which Oclgrind brings along, and reads the file that it writes.
//
// The model
// - A warp is WARP (32 or 64) work-items of one group that follow each other by their linear local id.
// - Barriers bring all items of a group together. Between two of them, the n-th execution of one instruction by each item of
//   a warp is one instruction of the warp; the items that execute it are its busy lanes. So items that part at a branch
//   are taken to meet again as soon as they execute the same instruction as often: for a loop whose items turn
//   differently often that is exact, for a loop within such a loop it is the fewest instructions that any machine needs.
// - An instruction is one of LLVM's, after Clang's optimisation: other compilers make others of the same source. Loops of
//   constant length are unrolled, as by GPUs' compilers. Arithmetic on a vector counts once for each element that is used, as
//   lanes are scalar; each access to memory counts once. Values lie in registers: taking an element of a vector, or naming a
//   value anew, is no instruction, and neither is adding a constant to an address. The smaller or larger of two integers by a
//   comparison and a selection is one instruction.
//   Builtin functions are one instruction each, and so is a remainder, however long a machine takes for them; a reduction or
//   scan of a sub-group is a shuffle and an operation in each of its steps.
// - A request is what the items of a warp ask of memory by one instruction, at most 16 bytes each: wider accesses are several
//   requests, of 16 bytes.
// - A warp waits when it first uses a value of a batch of loads from global memory; then it has all of the batch. A batch is what
//   it asks for before it waits, and what it would ask for if a short loop were unrolled four times: see noteWait. What a branch
//   depends on has arrived before what stands behind the branch is asked for, and so has what is stored to global memory, if no
//   pointer is `restrict`: the next load may be of the word that is stored.
// - Of an image's pixels neighbours are asked for at once. They lie row by row.
// - A global request moves whole segments of SEGMENT bytes: those that hold a byte which some item asks for, each once
//   (NVIDIA, CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory": segments of 32 bytes). No request finds in
//   a cache what another one moved. Buffers begin on a segment. Which segments a group, or a launch, loads for the first time
//   is counted beside it: a cache that keeps all that a group loads misses no others.
// - Local memory has BANKS banks, each 4 bytes wide; word w lies in bank w mod BANKS. A bank gives one word in a pass, to
//   all items that ask for it (a broadcast), so that a request takes as many passes as the most words asked of one bank.
//   Requests of 8 bytes an item go in two halves of the warp, those of 16 bytes in four quarters, one after the other
//   (NVIDIA, CUDA C++ Programming Guide, "Shared Memory"; "GPUWattch", Leng et al., ISCA 2013, and "Accel-Sim", Khairy et
//   al., ISCA 2020, count in the same way); reads go in half as many parts if each item asks for the same as its neighbour
//   at distance 1, or each for the same as that at distance 2 (the answer to "Unexpected shared memory bank conflict" in
//   NVIDIA's forum, t/77228; an H200's counters agree). Each __local array begins at bank 0.
// - An atomic request takes as many passes as the most items that name one address.
//
// Older machines differ by RULE (NVIDIA, "Optimizing CUDA", 2009; CUDA C Programming Guide 4.2, "Compute Capabilities"). The
// rules `strict` (compute capability 1.0 and 1.1) and `shrinking` (1.2 and 1.3) make a request of half a warp, 16 items:
// - strict: a request of words of 4, 8 or 16 bytes is one transaction (of 64 or 128 bytes; two of 128 bytes for words of 16)
//   if the k-th item asks for the k-th word of an aligned block. Otherwise each item that asks makes transactions of its own,
//   of 32 bytes.
// - shrinking: a request moves the blocks that hold a byte asked for: of 32 bytes for words of 1 byte, of 64 for 2, of 128
//   for longer words. A block of which one half is used shrinks to it, down to 32 bytes.
// - Local memory takes each 4 bytes of an item as a request of its own. In one pass a single word reaches several items; each
//   other bank serves one item. Items that write to one address are one.
// PARTITIONS of global memory (0: none), each 256 bytes wide, take turns; every buffer begins in the first one. UNITS groups
// that follow each other run at once, one for each compute unit, in windows: the first UNITS groups, the next ones, and so on.
// A moment is one execution of an instruction, the n-th since a barrier, by all items of a window. It lasts as long as its
// busiest partition takes: `busiest` sums up the transactions of that partition over all moments. Atomics have no part in it.
// Its nearest relative is AIWC (Johnston and Milthorpe, 2018), which also watches Oclgrind but knows neither warps nor banks.
//
// Files: GPULAB_COUNT_FILE gets one line of JSON for each launch; see `write`. With GPULAB_COUNT_SOURCES the text of each
// OpenCL program comes before its first launch. GPULAB_COUNT_WARP, _SEGMENT, _BANKS, _RULE,
// _PARTITIONS and _UNITS are the parameters above. GPULAB_TRACE_FILE gets what each warp of the first GPULAB_TRACE_GROUPS groups does, step by step; see
// `traceWarp`. All is counted by one thread, in the order in which Oclgrind runs items, so that counts repeat exactly.
//
// GPULAB_ORDER has the items of a group run in another order, from barrier to barrier: `all work-items in step`, `warp after warp`
// or `work-item after work-item`, the latter two `first to last` or `last to first`. Work-items of a warp are in step: each executes
// an instruction in turn. Work-item after work-item, a warp is one item. OpenCL allows each of the orders: a kernel without races and
// atomic operations has one result. GPULAB_READS_FILE then keeps what each item read, if the file is empty; else the first read that
// got another value than in the order that the file is of, is told: see `tellParting`. What is kept is limited: see `mostReads` and
// `mostPostponed`.

#include <oclgrind/Context.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

// LLVM's C interface: what is needed of it. An llvm::Instruction is an LLVMValueRef.
extern "C"
{
unsigned LLVMGetDebugLocLine(const void* value);
const char* LLVMGetDebugLocFilename(const void* value, unsigned* length);
unsigned LLVMGetDebugLocColumn(const void* value);
int LLVMGetInstructionOpcode(const void* instruction);
const void* LLVMGetCalledValue(const void* call);
const char* LLVMGetValueName2(const void* value, size_t* length);
const void* LLVMTypeOf(const void* value);
int LLVMGetTypeKind(const void* type);
const void* LLVMGetElementType(const void* type);
unsigned LLVMGetPointerAddressSpace(const void* type);
unsigned LLVMGetIntTypeWidth(const void* type);
int LLVMGetNumOperands(const void* value);
const void* LLVMGetOperand(const void* value, unsigned index);
const void* LLVMGetNextInstruction(const void* instruction);
const void* LLVMGetPreviousInstruction(const void* instruction);
const void* LLVMGetInstructionParent(const void* instruction);
const void* LLVMGetBasicBlockParent(const void* block);
unsigned LLVMCountParams(const void* function);
unsigned LLVMGetEnumAttributeKindForName(const char* name, size_t length);
const void* LLVMGetEnumAttributeAtIndex(const void* function, unsigned index, unsigned kind);
const void* LLVMGetFirstBasicBlock(const void* function);
const void* LLVMGetNextBasicBlock(const void* block);
const void* LLVMGetFirstInstruction(const void* block);
const void* LLVMGetFirstUse(const void* value);
const void* LLVMGetNextUse(const void* use);
const void* LLVMGetUser(const void* use);
const void* LLVMIsAConstant(const void* value);
const void* LLVMIsAConstantInt(const void* value);
long long LLVMConstIntGetSExtValue(const void* constant);
unsigned LLVMCountIncoming(const void* phi);
const void* LLVMGetIncomingValue(const void* phi, unsigned index);
const void* LLVMGetIncomingBlock(const void* phi, unsigned index);
char* LLVMPrintValueToString(const void* value);
void LLVMDisposeMessage(char* text);
const void* LLVMIsAInstruction(const void* value);
const void* LLVMIsAArgument(const void* value);
const void* LLVMIsAGlobalVariable(const void* value);
const void* LLVMIsAUser(const void* value);
unsigned long long LLVMConstIntGetZExtValue(const void* constant);
unsigned LLVMGetVectorSize(const void* type);
unsigned LLVMGetNumMaskElements(const void* shuffle);
int LLVMGetMaskValue(const void* shuffle, unsigned element);
void LLVMParseCommandLineOptions(int count, const char* const* options, const char* overview);
}

// Its own header includes LLVM's.
namespace oclgrind
{
class Program
{
public:
  const std::string& getSource() const;
};

class Kernel
{
public:
  const llvm::Function* getFunction() const;
  const std::string& getName() const;
  const Program* getProgram() const;
};
} // namespace oclgrind

namespace
{
using namespace oclgrind;

// Of sub-groups.
void forgetMeetings();
extern bool isLeading;

enum Opcode
{
  Branch = 2,
  Switch = 3,
  FirstBinary = 8,
  Add = 8,
  FAdd = 9,
  FSub = 11,
  FMul = 13,
  UDiv = 14,
  SDiv = 15,
  FDiv = 16,
  URem = 17,
  SRem = 18,
  FRem = 19,
  LastBinary = 25,
  Load = 27,
  Store = 28,
  GetElementPointer = 29,
  FirstCast = 30,
  SExt = 32,
  LastCast = 38,
  BitCast = 41,
  ICmp = 42,
  FCmp = 43,
  Phi = 44,
  Call = 45,
  Select = 46,
  ExtractElement = 50,
  InsertElement = 51,
  ShuffleVector = 52,
  FNeg = 66,
};

enum TypeKind
{
  Half = 1,
  Float = 2,
  Double = 3,
  Integer = 8,
  Pointer = 12,
  Vector = 13,
};

// What an access asks for; the names are those of the file.
enum Kind
{
  GlobalRead,
  GlobalWrite,
  LocalRead,
  LocalWrite,
  ConstantRead,
  GlobalAtomic,
  LocalAtomic,
  Kinds,
};

const char* const kindNames[Kinds] = {"global_read",   "global_write",  "local_read", "local_write", "constant_read",
                                      "global_atomic", "local_atomic"};

const size_t widestRequest = 16;
const size_t widestNumber = 8;
const size_t mostPostponed = size_t(1) << 22; // instructions of a group between two barriers, in an order that is asked for
const size_t mostReads = size_t(1) << 20; // of a launch that are kept, to be compared with those of another order
const size_t wordBytes = 4;
const size_t lineBytes = 128;
const size_t partitionBytes = 256;
const size_t smallestTransaction = 32;
const size_t largestTransaction = 128;
const unsigned halfWarp = 16;

// Compilers of GPUs unroll short loops so often, as long as the loop then has no more instructions than this (LLVM's NVPTX: a
// quarter of a threshold of 300), and put the loads of all turns first.
const unsigned unrolledTurns = 4;
const unsigned unrolledInstructions = 75;

// Which requests make which transactions.
enum Rule
{
  Segments,
  Strict,
  Shrinking,
};

struct Transaction
{
  size_t address;
  size_t size;
};

struct Access
{
  unsigned instruction; // its index
  unsigned turn;        // the item had executed the instruction so often before
  unsigned ordinal;     // of the accesses of this execution
  Kind kind;
  unsigned lane;
  size_t address;
  size_t size;
  std::array<uint8_t, widestRequest> stored; // by a store of a group that is traced
};

struct Requests
{
  uint64_t requests = 0;
  uint64_t items = 0;      // items that took part
  uint64_t bytes = 0;      // asked for by all of them
  uint64_t segments = 0;   // global memory
  uint64_t lines = 0;      // global memory: lines of a cache
  uint64_t newInGroup = 0; // loads of global memory: segments that the group loads for the first time
  uint64_t newInLaunch = 0;
  uint64_t passes = 0;     // local memory, and atomics
  uint64_t conflicts = 0;  // passes of local memory beyond those that as many words need at least
  uint64_t broadcasts = 0; // requests of local memory in which one word serves several items
  uint64_t words = 0;      // constant memory: different words
  uint64_t moved = 0;      // global memory: bytes of all transactions
  uint64_t busiest = 0;    // transactions of each moment's busiest partition

  void operator+=(const Requests& other)
  {
    requests += other.requests;
    items += other.items;
    bytes += other.bytes;
    segments += other.segments;
    lines += other.lines;
    newInGroup += other.newInGroup;
    newInLaunch += other.newInLaunch;
    passes += other.passes;
    conflicts += other.conflicts;
    broadcasts += other.broadcasts;
    words += other.words;
    moved += other.moved;
    busiest += other.busiest;
  }
};

// A value that an instruction takes from another one.
struct UsedValue
{
  const void* instruction;
  size_t index; // among the instructions that were executed; `unknown` before it was
};
const size_t unknown = std::numeric_limits<size_t>::max();

// An instruction of a kernel with its counts. Of one without a place in the source, the line is 0.
struct Instruction
{
  const void* self = nullptr;
  std::string file;
  unsigned line = 0;
  unsigned weight = 1; // instructions of scalar lanes that it is
  unsigned flops = 0;  // floating-point operations of an item
  bool touchesConstants = false;
  bool isOfImage = false; // reads or writes a pixel
  unsigned oddBits = 0;   // of an integer that fills no whole bytes: see keepBits
  bool isPartOfStore = false; // an element of a vector store before it
  bool isDivision = false;    // of integers, by a divisor that the compiler does not know
  bool isBranch = false;
  bool isUnrolled = false;    // a load in a loop whose turns a compiler can count
  bool isMove = false;        // names a value anew, and does not wait for it
  std::vector<UsedValue> operands;
  uint64_t issued = 0; // by warps
  uint64_t lanes = 0;  // by items
  uint64_t waits = 0;  // of warps, for loads from global memory
  uint64_t hidden = 0; // instructions of warps between those loads and the waits
  std::array<Requests, Kinds> memory;
};

// Loads of a lane go in batches: a lane asks for several before it waits for the first of them, and then has all.
struct LaneLoads
{
  unsigned arrived = 0;   // the last batch that it waited for, from 1
  unsigned executed = 0;  // instructions
  unsigned waitedAt = 0;  // instructions before that wait
  unsigned askedAt = 0;   // instructions before the first load of the batch on its way
  unsigned load = 0;      // that load's index
  unsigned decided = 0;   // the last batch that a branch depended on: no load behind the branch was asked for before
  bool isOnItsWay = false;
};

// What an instruction gave a lane.
struct ValueLoads
{
  unsigned batch = 0;       // of loads that the value depends on; 0: none
  unsigned firstBatch = 0;  // of a load: the batch that it was in last, and its turn when it first was
  unsigned firstTurn = 0;
  unsigned waits = 0;
  unsigned hidden = 0;
};

unsigned setting(const char* name, unsigned fallback)
{
  const char* text = getenv(name);
  const long value = text ? strtol(text, nullptr, 10) : 0;
  return value > 0 ? unsigned(value) : fallback;
}

Rule ruleNamed(const char* name)
{
  const std::string text = name ? name : "";
  return text == "strict" ? Strict : text == "shrinking" ? Shrinking : Segments;
}

std::string quoted(const std::string& text)
{
  std::string out = "\"";
  for (const char c : text)
  {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) >= ' ')
      out += c;
  }
  return out + '"';
}

bool endsWith(const std::string& text, const char* end)
{
  const size_t length = strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

// The name of a builtin function: fma of _Z3fmafff.
std::string calledName(const void* instruction)
{
  size_t length = 0;
  const char* name = LLVMGetValueName2(LLVMGetCalledValue(instruction), &length);
  const std::string mangled = name ? std::string(name, length) : std::string();
  if (mangled.compare(0, 2, "_Z") != 0)
    return mangled;
  char* end = nullptr;
  const size_t count = strtoul(mangled.c_str() + 2, &end, 10);
  const size_t begin = size_t(end - mangled.c_str());
  return begin + count <= mangled.size() ? mangled.substr(begin, count) : mangled;
}

bool startsWith(const std::string& text, const char* prefix)
{
  return text.compare(0, strlen(prefix), prefix) == 0;
}

bool isFloat(const void* value)
{
  const void* type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) == Vector)
    type = LLVMGetElementType(type);
  const int kind = LLVMGetTypeKind(type);
  return kind == Half || kind == Float || kind == Double;
}

// Calls move or convert values, or compute: a computed value of floating point counts once, or twice for a multiplication
// with an addition.
unsigned flopsOfCall(const void* instruction, const std::string& name)
{
  for (const char* other : {"vload", "convert_", "as_", "shuffle", "select", "bitselect", "read_image", "fabs", "copysign",
                            "sub_group_broadcast", "sub_group_shuffle", "intel_sub_group_shuffle"})
    if (startsWith(name, other))
      return 0;
  if (!isFloat(instruction))
    return 0;
  const bool isTwo = name == "fma" || name == "mad" || startsWith(name, "llvm.fma") || startsWith(name, "llvm.fmuladd");
  return isTwo ? 2 : 1;
}

// Steps in which a sub-group joins its lanes' values: each is a shuffle and an operation.
unsigned stepsOfSubgroup(const std::string& name)
{
  if (!startsWith(name, "sub_group_reduce") && !startsWith(name, "sub_group_scan"))
    return 0;
  unsigned steps = 0;
  while (1u << steps < setting("GPULAB_COUNT_WARP", 32))
    steps++;
  return steps;
}

bool isIntegerDivision(const void* instruction)
{
  const int opcode = LLVMGetInstructionOpcode(instruction);
  const bool isOne = opcode == UDiv || opcode == SDiv || opcode == URem || opcode == SRem;
  return isOne && !LLVMIsAConstant(LLVMGetOperand(instruction, 1));
}

bool isMove(int opcode)
{
  return opcode == Phi || opcode == BitCast || opcode == ExtractElement || opcode == InsertElement ||
         opcode == ShuffleVector;
}

bool hasConstantIndices(const void* pointer)
{
  for (int i = 1; i < LLVMGetNumOperands(pointer); i++)
    if (!LLVMIsAConstantInt(LLVMGetOperand(pointer, i)))
      return false;
  return true;
}

bool touchesConstants(const void* instruction)
{
  const int count = LLVMGetNumOperands(instruction);
  for (int i = 0; i < count; i++)
  {
    const void* type = LLVMTypeOf(LLVMGetOperand(instruction, i));
    if (LLVMGetTypeKind(type) == Pointer && LLVMGetPointerAddressSpace(type) == AddrSpaceConstant)
      return true;
  }
  return false;
}

bool isArithmetic(int opcode)
{
  return (opcode >= FirstBinary && opcode <= LastBinary) || (opcode >= FirstCast && opcode <= LastCast) ||
         opcode == ICmp || opcode == FCmp || opcode == Select || opcode == FNeg;
}

using Elements = uint64_t; // a bit for each element of a vector

// The elements of a value that are used. Clang adds up a vector's elements by additions of whole vectors, of which one
// element matters: a machine with scalar lanes computes no other.
Elements usedElements(const void* value, unsigned depth = 0)
{
  const void* const type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != Vector)
    return 1;
  const unsigned size = LLVMGetVectorSize(type);
  const Elements all = (Elements(1) << std::min(size, 63u)) - 1;
  if (depth > 16 || size > 16)
    return all;
  Elements used = 0;
  for (const void* use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
  {
    const void* const user = LLVMGetUser(use);
    const int opcode = LLVMGetInstructionOpcode(user);
    const bool isFirst = LLVMGetOperand(user, 0) == value;
    const void* const index = opcode == ExtractElement                ? LLVMGetOperand(user, 1)
                              : opcode == InsertElement && isFirst ? LLVMGetOperand(user, 2)
                                                                   : nullptr;
    if (index && LLVMIsAConstantInt(index))
    {
      const Elements one = Elements(1) << LLVMConstIntGetZExtValue(index);
      used |= opcode == ExtractElement ? one : usedElements(user, depth + 1) & ~one;
    }
    else if (opcode == ShuffleVector)
    {
      const Elements ofUser = usedElements(user, depth + 1);
      for (unsigned i = 0; i < LLVMGetNumMaskElements(user); i++)
      {
        const int from = LLVMGetMaskValue(user, i);
        if (from < 0 || !(ofUser >> i & 1))
          continue;
        if (unsigned(from) < size && isFirst)
          used |= Elements(1) << from;
        if (unsigned(from) >= size && LLVMGetOperand(user, 1) == value)
          used |= Elements(1) << (from - size);
      }
    }
    else if (isArithmetic(opcode) && LLVMGetTypeKind(LLVMTypeOf(user)) == Vector &&
             LLVMGetVectorSize(LLVMTypeOf(user)) == size)
      used |= usedElements(user, depth + 1);
    else
      return all;
  }
  return used;
}

// Whether a selection is the smaller or the larger of the two integers that its condition compares.
bool isMinimum(const void* selection)
{
  const void* const condition = LLVMGetOperand(selection, 0);
  if (!LLVMIsAInstruction(condition) || LLVMGetInstructionOpcode(condition) != ICmp)
    return false;
  const auto compared = [&](unsigned index) { return LLVMGetOperand(condition, index); };
  const void* const one = LLVMGetOperand(selection, 1);
  const void* const other = LLVMGetOperand(selection, 2);
  return (compared(0) == one && compared(1) == other) || (compared(0) == other && compared(1) == one);
}

// Whether a comparison of integers only serves the smaller or the larger of them: each is one instruction of GPUs, with the
// comparison. Of floats it is two: their minimum gives another result for NaN.
bool isPartOfMinima(const void* comparison)
{
  const void* use = LLVMGetFirstUse(comparison);
  if (!use)
    return false;
  for (; use; use = LLVMGetNextUse(use))
  {
    const void* const user = LLVMGetUser(use);
    if (LLVMGetInstructionOpcode(user) != Select || LLVMGetOperand(user, 0) != comparison || !isMinimum(user))
      return false;
  }
  return true;
}

// Bits of an integer that does not fill its bytes; 0 of others.
unsigned oddBits(const void* value)
{
  const void* const type = LLVMTypeOf(value);
  const unsigned bits = LLVMGetTypeKind(type) == Integer ? LLVMGetIntTypeWidth(type) : 0;
  return bits > 1 && bits < 64 && bits != 8 && bits != 16 && bits != 32 ? bits : 0;
}

// What is added to a loop's value at each turn if the sum cannot wrap round, in the language's eyes: LLVM can count the turns by
// it. It can by a constant 1 or -1, too.
const void* stepOf(const void* phi, const void* next)
{
  if (!LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != Add)
    return nullptr;
  const bool isFirst = LLVMGetOperand(next, 0) == phi;
  if (!isFirst && LLVMGetOperand(next, 1) != phi)
    return nullptr;
  const void* const step = LLVMGetOperand(next, isFirst);
  const bool isOne = LLVMIsAConstantInt(step) && std::abs(LLVMConstIntGetSExtValue(step)) == 1;
  char* const text = LLVMPrintValueToString(next);
  const bool cannotWrap = strstr(text, "add nsw") || strstr(text, "add nuw");
  LLVMDisposeMessage(text);
  return isOne || cannotWrap ? step : nullptr;
}

// The blocks of a loop: its first one, and those that lead to its last one without passing the first.
std::set<const void*> loopOf(const void* first, const void* last)
{
  std::set<const void*> blocks = {first};
  std::vector<const void*> open = {last};
  while (!open.empty())
  {
    const void* const block = open.back();
    open.pop_back();
    if (!blocks.insert(block).second)
      continue;
    for (const void* use = LLVMGetFirstUse(block); use; use = LLVMGetNextUse(use))
      if (LLVMIsAInstruction(LLVMGetUser(use)))
        open.push_back(LLVMGetInstructionParent(LLVMGetUser(use)));
  }
  return blocks;
}

// Whether a comparison of a value, or of what it is converted to, decides a branch that leaves a loop of these blocks.
bool endsLoop(const void* value, const std::set<const void*>& blocks)
{
  for (const void* use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
  {
    const void* const user = LLVMGetUser(use);
    const int opcode = LLVMGetInstructionOpcode(user);
    if (opcode == Branch && blocks.count(LLVMGetInstructionParent(user)) &&
        !(blocks.count(LLVMGetOperand(user, 1)) && blocks.count(LLVMGetOperand(user, 2))))
      return true;
    const bool isConversion = opcode >= FirstCast && opcode <= LastCast;
    if ((isConversion || opcode == ICmp) && endsLoop(user, blocks))
      return true;
  }
  return false;
}

// Whether the turns of the innermost loop around an instruction can be counted, without which compilers do not unroll it (an
// H200's driver: not with `uint i += get_global_size(0)`, but with `int i += step`).
bool isInCountedLoop(const void* instruction)
{
  const void* const own = LLVMGetInstructionParent(instruction);
  std::map<const void*, size_t> places;
  for (const void* block = LLVMGetFirstBasicBlock(LLVMGetBasicBlockParent(own)); block; block = LLVMGetNextBasicBlock(block))
    places.emplace(block, places.size());
  size_t innermost = 0;
  bool isCounted = false;
  for (const auto& [header, begin] : places)
    for (const void* phi = LLVMGetFirstInstruction(header); phi && LLVMGetInstructionOpcode(phi) == Phi;
         phi = LLVMGetNextInstruction(phi))
      for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
      {
        const void* const last = LLVMGetIncomingBlock(phi, i);
        if (places[last] < begin || begin < innermost)
          continue;
        const std::set<const void*> blocks = loopOf(header, last);
        if (!blocks.count(own))
          continue;
        const void* const next = LLVMGetIncomingValue(phi, i);
        const void* const step = stepOf(phi, next);
        const bool isSame = step && !(LLVMIsAInstruction(step) && blocks.count(LLVMGetInstructionParent(step)));
        const bool isCounter = isSame && (endsLoop(phi, blocks) || endsLoop(next, blocks));
        isCounted = (isCounted && begin == innermost) || isCounter;
        innermost = begin;
      }
  return isCounted;
}

// Whether some pointer of a kernel is `restrict`: then a compiler may put its loads before other pointers' stores.
bool hasRestrict(const void* function)
{
  const unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
  for (unsigned i = 1; i <= LLVMCountParams(function); i++)
    if (LLVMGetEnumAttributeAtIndex(function, i, noalias))
      return true;
  return false;
}

Instruction describe(const void* instruction)
{
  Instruction described;
  unsigned length = 0;
  described.self = instruction;
  described.line = LLVMGetDebugLocLine(instruction);
  if (described.line)
    if (const char* file = LLVMGetDebugLocFilename(instruction, &length))
      described.file = std::string(file, length);
  described.touchesConstants = touchesConstants(instruction);
  const int opcode = LLVMGetInstructionOpcode(instruction);
  described.oddBits = oddBits(opcode == SExt ? LLVMGetOperand(instruction, 0) : instruction);
  const unsigned lanes = std::max(unsigned(__builtin_popcountll(usedElements(instruction))), 1u);
  described.isDivision = isIntegerDivision(instruction);
  described.isBranch = opcode == Branch || opcode == Switch;
  described.isUnrolled = opcode == Load && isInCountedLoop(instruction);
  described.isMove = isMove(opcode);
  // Values lie in registers, elements of vectors too: to name one anew takes no instruction. Loads and stores add constants to
  // addresses themselves.
  if (described.isMove || (opcode == GetElementPointer && hasConstantIndices(instruction)))
    described.weight = 0;
  for (int i = 0; i < LLVMGetNumOperands(instruction); i++)
    if (const void* const operand = LLVMIsAInstruction(LLVMGetOperand(instruction, i)))
      described.operands.push_back({operand, unknown});
  if (isArithmetic(opcode))
    described.weight = opcode == ICmp && isPartOfMinima(instruction) ? 0 : lanes;
  if (opcode == FAdd || opcode == FSub || opcode == FMul || opcode == FDiv || opcode == FRem || opcode == FCmp)
    described.flops = lanes;
  if (opcode == Call)
  {
    const std::string name = calledName(instruction);
    const unsigned steps = stepsOfSubgroup(name);
    described.isOfImage = startsWith(name, "read_image") || startsWith(name, "write_image");
    described.flops = steps ? steps * isFloat(instruction) : lanes * flopsOfCall(instruction, name);
    described.weight = steps ? 2 * steps : described.flops ? lanes : 1;
  }
  return described;
}

// Oclgrind leaves bits of such an integer that it has not: of i3 the upper five of a byte. LLVM makes such integers of masks.
void keepBits(const Instruction& known, const TypedValue& result)
{
  uint64_t value = 0;
  memcpy(&value, result.data, result.size);
  const unsigned beyond = 64 - known.oddBits;
  const bool hasSign = LLVMGetInstructionOpcode(known.self) == SExt;
  value = hasSign ? uint64_t(int64_t(value << beyond) >> beyond) : value << beyond >> beyond;
  memcpy(result.data, &value, result.size);
}

// The line of an instruction; of one without a place in the source, that of the nearest one of its block that has one, if any.
unsigned lineOf(const void* instruction)
{
  const void* before = instruction;
  const void* after = instruction;
  while (before || after)
  {
    for (const void* const one : {before, after})
      if (const unsigned line = one ? LLVMGetDebugLocLine(one) : 0)
        return line;
    before = before ? LLVMGetPreviousInstruction(before) : nullptr;
    after = after ? LLVMGetNextInstruction(after) : nullptr;
  }
  return 0;
}

// Bytes of a number that an instruction reads; of a vector, of an element.
size_t numberBytes(const void* instruction)
{
  const void* type = LLVMTypeOf(instruction);
  if (LLVMGetTypeKind(type) == Vector)
    type = LLVMGetElementType(type);
  const int kind = LLVMGetTypeKind(type);
  const size_t bits = kind == Integer ? LLVMGetIntTypeWidth(type) : kind == Half ? 16 : kind == Double || kind == Pointer ? 64 : 32;
  return std::min(std::max(bits / 8, size_t(1)), widestNumber);
}

// Whether a pointer is to an element of a vector: computed from its address, or in one step with that.
bool pointsInto(const void* vector, const void* pointer)
{
  if (LLVMGetOperand(pointer, 0) == vector)
    return true;
  const int count = LLVMGetInstructionOpcode(vector) == GetElementPointer ? LLVMGetNumOperands(vector) : 0;
  if (count == 0 || LLVMGetNumOperands(pointer) != count + 1)
    return false;
  for (int i = 0; i < count; i++)
    if (LLVMGetOperand(pointer, i) != LLVMGetOperand(vector, i))
      return false;
  return true;
}

// A phase, an instruction's index, its turn, and the kind of its accesses.
using Moment = std::tuple<unsigned, unsigned, unsigned, int>;

// An instruction's index, and how often the item had executed it before.
using Execution = std::pair<unsigned, unsigned>;

class Counter : public Plugin
{
public:
  explicit Counter(const Context* context)
      : Plugin(context), m_warp(startsWith(m_named, "work-item") ? 1 : setting("GPULAB_COUNT_WARP", 32)),
        m_segment(setting("GPULAB_COUNT_SEGMENT", 32)), m_banks(setting("GPULAB_COUNT_BANKS", 32))
  {
    if (const char* path = getenv("GPULAB_COUNT_FILE"))
      m_file.open(path, std::ios::app);
    if (const char* path = getenv("GPULAB_TRACE_FILE"))
      m_trace.open(path, std::ios::app);
    if (const char* path = getenv("GPULAB_READS_FILE"))
    {
      m_before.open(path, std::ios::binary);
      if (m_before.peek() == std::ifstream::traits_type::eof())
        m_kept.open(path, std::ios::binary);
    }
  }

  // One thread: counts come in one order.
  bool isThreadSafe() const override
  {
    return false;
  }

  void kernelBegin(const KernelInvocation* launch) override
  {
    m_instructions.clear();
    m_indices.clear();
    m_parts.clear();
    m_values.clear();
    m_last = nullptr;
    m_groups = m_items = m_warps = m_barriers = m_copies = m_private = 0;
    m_unordered = false;
    m_moments.clear();
    m_loadedByLaunch.clear();
    m_launch = const_cast<KernelInvocation*>(launch);
    m_kernel = launch->getKernel()->getName();
    m_mayAlias = !hasRestrict(launch->getKernel()->getFunction());
    m_local = launch->getLocalSize();
    if (getenv("GPULAB_COUNT_SOURCES"))
      noteProgram(launch->getKernel()->getProgram()->getSource());
    if (m_trace.is_open())
      m_trace << "{\"kernel\":" << quoted(m_kernel) << "}\n";
    const Size3 all = launch->getGlobalSize();
    m_reads.assign(m_named.empty() ? 0 : all.x * all.y * all.z, {});
    m_writers.clear();
    m_hasParted = false;
    // Of a launch that did not come to its end.
    forgetPostponed();
    m_pending.clear();
    m_accesses.clear();
    readBefore();
  }

  void kernelEnd(const KernelInvocation*) override
  {
    keepReads();
    m_trace.flush();
    endWindow();
    write();
  }

  void workGroupBegin(const WorkGroup* group) override
  {
    m_size = group->getGroupSize();
    const size_t items = m_size.x * m_size.y * m_size.z;
    m_done.assign((items + m_warp - 1) / m_warp, false);
    forgetMeetings();
    m_item = nullptr;
    m_isTraced = m_trace.is_open() && m_groups < m_traced;
    m_phase = 0;
    m_isAtBarrier = true;
    m_localWriters.clear();
    m_loadedByGroup.clear();
    m_groups++;
    m_items += items;
    m_warps += m_done.size();
  }

  void workGroupBarrier(const WorkGroup*, uint32_t) override
  {
    countPostponed();
    endWarp();
    m_done.assign(m_done.size(), false);
    m_isAtBarrier = true;
    m_barriers++;
    m_phase++;
  }

  void workGroupComplete(const WorkGroup*) override
  {
    countPostponed();
    endWarp();
    if (m_groups % m_units == 0)
      endWindow();
  }

  void memoryLoad(const Memory* memory, const WorkItem* item, size_t address, size_t size) override
  {
    note(memory, item, address, size, false, false);
    noteReads(memory, item, address, size);
  }

  void memoryStore(const Memory* memory, const WorkItem* item, size_t address, size_t size, const uint8_t* data) override
  {
    const size_t before = m_pending.size();
    note(memory, item, address, size, true, false);
    for (size_t i = before; m_isTraced && i < m_pending.size(); i++)
      std::copy_n(data + (m_pending[i].address - address), m_pending[i].size, m_pending[i].stored.begin());
    noteWriter(memory, writerOf(item), address, size);
  }

  // A copy by the whole group (async_work_group_copy): no item's request.
  void memoryLoad(const Memory*, const WorkGroup*, size_t, size_t) override
  {
    m_copies++;
  }

  void memoryStore(const Memory* memory, const WorkGroup* group, size_t address, size_t size, const uint8_t*) override
  {
    m_copies++;
    noteWriter(memory, {Writer::Copy, uint32_t(group->getGroupIndex())}, address, size);
  }

  void memoryAtomicLoad(const Memory* memory, const WorkItem* item, AtomicOp, size_t address, size_t size) override
  {
    note(memory, item, address, size, false, true);
  }

  void memoryAtomicStore(const Memory* memory, const WorkItem* item, AtomicOp, size_t address, size_t size) override
  {
    // What it changes it has read before.
    if (m_pending.empty())
      note(memory, item, address, size, true, true);
    noteWriter(memory, writerOf(item), address, size);
  }

  void instructionExecuted(const WorkItem* item, const llvm::Instruction* instruction, const TypedValue& result) override
  {
    const unsigned index = indexOf(instruction);
    if (m_instructions[index].oddBits)
      keepBits(m_instructions[index], result);
    if (m_named.empty())
      return count(item, index);
    if (m_countPostponed++ == mostPostponed)
    {
      std::cerr << "a group executed " << mostPostponed << " instructions in this order without a barrier or its end\n" << std::flush;
      std::_Exit(1);
    }
    m_postponed[linearId(item) / m_warp].push_back({item, index, m_pending});
    m_pending.clear();
    if (!isLeading)
      chooseNext(item);
  }

private:
  // What an item executed while items of other warps ran, too.
  struct Postponed
  {
    const WorkItem* item;
    unsigned index; // of the instruction
    std::vector<Access> accesses;
  };

  // Who stored a value last.
  struct Writer
  {
    enum : uint32_t
    {
      Nobody,
      Item,
      Copy, // of a group
    } kind = Nobody;
    uint32_t group = 0;
    uint32_t item = 0;
    uint32_t line = 0;
  };

  // Of a number, or of an element of a vector.
  struct Read
  {
    size_t address;
    std::array<uint8_t, widestNumber> value;
    Writer writer;
    uint32_t line;
  };

  // Whose turn it is after an instruction of `item`: the next one's in its warp, of the first warp in which one is ready. Oclgrind
  // itself lets the first item of a group execute one instruction behind each barrier.
  void chooseNext(const WorkItem* item)
  {
    const size_t items = m_size.x * m_size.y * m_size.z, together = m_areInStep ? items : m_warp;
    const size_t warps = (items + together - 1) / together, own = linearId(item);
    // Is the warp that runs not done, none before it is looked at.
    for (size_t turn = m_isAtBarrier ? 0 : m_turn; turn < warps; turn++)
    {
      const size_t warp = m_isReversed ? warps - 1 - turn : turn;
      const size_t first = warp * together, lanes = std::min(together, items - first);
      const size_t before = own / together == warp ? own - first + 1 : 0;
      for (size_t lane = 0; lane < lanes; lane++)
      {
        const WorkItem* const next = item->getWorkGroup()->getWorkItem(Size3(first + (before + lane) % lanes, m_size));
        if (next->getState() != WorkItem::READY)
          continue;
        if (next != item)
          m_launch->switchWorkItem(next->getGlobalID());
        m_turn = turn;
        m_isAtBarrier = false;
        return;
      }
    }
  }

  // Counts warp by warp what was executed since the last barrier.
  void countPostponed()
  {
    for (const auto& warp : m_postponed)
      for (const Postponed& one : warp.second)
      {
        m_pending = one.accesses;
        count(one.item, one.index);
      }
    forgetPostponed();
  }

  void forgetPostponed()
  {
    m_postponed.clear();
    m_countPostponed = 0;
  }

  size_t linearId(const WorkItem* item) const
  {
    const Size3 id = item->getLocalID();
    return (id.z * m_size.y + id.y) * m_size.x + id.x;
  }

  std::unordered_map<size_t, Writer>* writersOf(const Memory* memory)
  {
    const unsigned space = memory->getAddressSpace();
    const bool isPrivate = space == AddrSpacePrivate || m_named.empty();
    return isPrivate ? nullptr : space == AddrSpaceLocal ? &m_localWriters : &m_writers;
  }

  void noteWriter(const Memory* memory, const Writer& writer, size_t address, size_t size)
  {
    if (auto* const writers = writersOf(memory))
      for (size_t byte = 0; byte < size; byte++)
        (*writers)[address + byte] = writer;
  }

  Writer writerOf(const WorkItem* item) const
  {
    return {Writer::Item, uint32_t(item->getWorkGroup()->getGroupIndex()), uint32_t(linearId(item)),
            lineOf(item->getCurrentInstruction())};
  }

  // Notes what an item reads, number by number.
  void noteReads(const Memory* memory, const WorkItem* item, size_t address, size_t size)
  {
    auto* const writers = writersOf(memory);
    if (!writers || !memory->isAddressValid(address, size))
      return;
    const void* const instruction = item->getCurrentInstruction();
    const size_t number = numberBytes(instruction);
    for (size_t at = 0; at < size; at += number)
    {
      const auto writer = writers->find(address + at);
      Read read = {address + at, {}, writer == writers->end() ? Writer() : writer->second, lineOf(instruction)};
      const size_t bytes = std::min(number, size - at);
      memcpy(read.value.data(), memory->getPointer(address + at), bytes);
      noteRead(item, read, bytes, address + at / widestRequest * widestRequest);
    }
  }

  // Of each item so many reads are kept that those of all items are at most `mostReads`.
  void noteRead(const WorkItem* item, const Read& read, size_t size, size_t request)
  {
    const size_t index = item->getGlobalIndex();
    std::vector<Read>& own = m_reads[index];
    if (own.size() >= std::max(mostReads / m_reads.size(), size_t(1)))
      return;
    if (!m_hasParted && index < m_readsBefore.size() && own.size() < m_readsBefore[index].size())
    {
      const Read& before = m_readsBefore[index][own.size()];
      // An item that takes another way, as the one that an atomic operation tells that it is the last, is none to compare.
      if (before.address != read.address || before.line != read.line)
        m_readsBefore[index].clear();
      else if (before.value != read.value)
        tellParting(item, size, before, read, request);
    }
    own.push_back(read);
  }

  // What an item read, and who had stored it.
  static std::string told(const Read& read, size_t size, const Writer& reader, bool isFloat)
  {
    Access access = {};
    access.size = size;
    std::copy(read.value.begin(), read.value.end(), access.stored.begin());
    const Writer& by = read.writer;
    const bool isSameGroup = by.group == reader.group;
    const std::string value = valueOf(access, isFloat), line = std::to_string(by.line), group = std::to_string(by.group);
    if (by.kind == Writer::Nobody)
      return value + ", which no work-item of this launch has stored";
    if (by.kind == Writer::Copy)
      return value + ", which the copy of " + (isSameGroup ? "the group" : "group " + group) + " stored";
    if (isSameGroup && by.item == reader.item)
      return value + ", its own value" + (by.line ? " from line " + line : "");
    return value + ", which work-item " + std::to_string(by.item) + (isSameGroup ? "" : " of group " + group) + " stored" +
           (by.line ? " in line " + line : "");
  }

  // Writes {"parting": {"reads": in words, "gets": [in the order of the file, in this one], "place": {"group": ..,
  // "item": .., "line": .., "at": address of the request, "turn": so often the item had read that there before}}}
  void tellParting(const WorkItem* item, size_t size, const Read& before, const Read& read, size_t request)
  {
    m_hasParted = true;
    const void* const instruction = item->getCurrentInstruction();
    const auto offset = [](size_t address) { return address & ((size_t(1) << 48) - 1); };
    const Writer reader = writerOf(item);
    size_t turn = 0;
    for (const Read& one : m_reads[item->getGlobalIndex()])
      turn += one.address == read.address && one.line == read.line;
    const std::string line = read.line ? "line " + std::to_string(read.line) + ": " : "";
    m_trace << "{\"parting\":{\"reads\":"
            << quoted(line + "work-item " + std::to_string(reader.item) + " of group " + std::to_string(reader.group) +
                      " reads " + arrayOf(instruction) + "[" + std::to_string(offset(read.address) / size) + "]")
            << ",\"gets\":[" << quoted(told(before, size, reader, isFloat(instruction))) << ","
            << quoted(told(read, size, reader, isFloat(instruction))) << "],\"place\":{\"group\":" << reader.group
            << ",\"item\":" << reader.item << ",\"line\":" << read.line << ",\"at\":" << offset(request)
            << ",\"turn\":" << turn << "}}}\n";
  }

  void keepReads()
  {
    for (const std::vector<Read>& own : m_reads)
    {
      const size_t count = own.size();
      m_kept.write(reinterpret_cast<const char*>(&count), sizeof count);
      m_kept.write(reinterpret_cast<const char*>(own.data()), std::streamsize(count * sizeof(Read)));
    }
    m_kept.flush();
  }

  void readBefore()
  {
    m_readsBefore.clear();
    for (size_t item = 0; item < m_reads.size(); item++)
    {
      size_t count = 0;
      if (!m_before.read(reinterpret_cast<char*>(&count), sizeof count))
        return;
      m_readsBefore.emplace_back(count);
      m_before.read(reinterpret_cast<char*>(m_readsBefore.back().data()), std::streamsize(count * sizeof(Read)));
    }
  }

  void count(const WorkItem* item, unsigned index)
  {
    choose(item);
    if (m_instructions[index].isOfImage)
      joinPixels();
    if (m_instructions[index].isPartOfStore)
    {
      m_pending.clear();
      return;
    }
    unsigned& turns = m_turns[index * m_warp + m_lane];
    noteWait(index, turns);
    for (unsigned ordinal = 0; ordinal < m_pending.size(); ordinal++)
    {
      Access access = m_pending[ordinal];
      access.instruction = index;
      access.turn = turns;
      access.ordinal = ordinal;
      access.lane = m_lane;
      const Instruction& known = m_instructions[index];
      if (known.touchesConstants && !known.isOfImage && access.kind == GlobalRead)
        access.kind = ConstantRead;
      m_accesses.push_back(access);
    }
    m_pending.clear();
    if (m_isTraced)
      m_order[m_lane].emplace_back(index, turns);
    turns++;
  }

  const std::string m_named = getenv("GPULAB_ORDER") ? getenv("GPULAB_ORDER") : "";
  const bool m_areInStep = endsWith(m_named, "in step"), m_isReversed = endsWith(m_named, "last to first");
  bool m_isAtBarrier = true; // no item has had its turn since
  size_t m_turn = 0;         // of the warp that runs, among the group's
  KernelInvocation* m_launch = nullptr;
  std::ifstream m_before;
  std::ofstream m_kept;
  std::map<size_t, std::vector<Postponed>> m_postponed; // of each warp
  size_t m_countPostponed = 0;
  std::vector<std::vector<Read>> m_reads, m_readsBefore; // of each item of the launch
  std::unordered_map<size_t, Writer> m_writers, m_localWriters; // of each byte
  bool m_hasParted = false;
  const unsigned m_warp, m_segment, m_banks;
  const Rule m_rule = ruleNamed(getenv("GPULAB_COUNT_RULE"));
  const unsigned m_together = m_rule == Segments ? m_warp : halfWarp; // lanes of a request
  const unsigned m_partitions = setting("GPULAB_COUNT_PARTITIONS", 0);
  const unsigned m_units = setting("GPULAB_COUNT_UNITS", 1);
  const unsigned m_traced = setting("GPULAB_TRACE_GROUPS", 1);
  std::ofstream m_file, m_trace;

  std::vector<std::string> m_programs; // their texts, in the order of their first launches
  size_t m_program = 0;                // of the launch, from 1

  // Of the launch.
  std::string m_kernel;
  Size3 m_local; // items of a group
  std::vector<Instruction> m_instructions;
  std::unordered_map<const llvm::Instruction*, unsigned> m_indices;
  std::unordered_set<const void*> m_parts;   // of stores that were seen: see notePartsOf
  const llvm::Instruction* m_last = nullptr; // with its index
  unsigned m_lastIndex = 0;
  uint64_t m_groups = 0, m_items = 0, m_warps = 0, m_barriers = 0, m_copies = 0, m_private = 0;
  bool m_unordered = false;
  bool m_mayAlias = false; // stores may reach what other pointers point to
  std::map<Moment, std::vector<uint64_t>> m_moments; // of a window: transactions of each partition
  std::unordered_set<size_t> m_loadedByLaunch, m_loadedByGroup; // segments of global memory

  // Of the group, from one barrier to the next: the warps that are done.
  Size3 m_size;
  std::vector<bool> m_done;
  unsigned m_phase = 0; // barriers that it has met
  bool m_isTraced = false;

  // Of the warp whose items run, until a barrier or their end: how often each item has executed each instruction.
  const WorkItem* m_item = nullptr;
  size_t m_current = 0;
  unsigned m_lane = 0;
  std::vector<unsigned> m_turns;
  std::vector<Access> m_accesses;
  std::vector<Access> m_pending; // of the instruction that is being executed
  // Loads from global memory: see noteWait. Of each lane, of each instruction and lane.
  std::vector<LaneLoads> m_loads = std::vector<LaneLoads>(m_warp);
  std::vector<ValueLoads> m_values;
  // In a group that is traced: what each lane executed, in its order, and the requests that this made.
  std::vector<std::vector<Execution>> m_order = std::vector<std::vector<Execution>>(m_warp);
  std::map<Execution, std::vector<std::string>> m_requests;

  // Writes {"source": its text} of a program that has launched nothing yet.
  void noteProgram(const std::string& source)
  {
    const auto known = std::find(m_programs.begin(), m_programs.end(), source);
    m_program = size_t(known - m_programs.begin()) + 1;
    if (known != m_programs.end())
      return;
    m_programs.push_back(source);
    m_file << "{\"source\":" << quoted(source) << "}\n";
  }

  unsigned indexOf(const llvm::Instruction* instruction)
  {
    if (instruction == m_last)
      return m_lastIndex;
    const auto found = m_indices.emplace(instruction, unsigned(m_instructions.size()));
    if (found.second)
    {
      m_instructions.push_back(describe(instruction));
      m_turns.resize(m_instructions.size() * m_warp, 0);
      m_values.resize(m_instructions.size() * m_warp);
      m_instructions.back().isPartOfStore = m_parts.count(instruction) > 0;
      notePartsOf(instruction);
    }
    m_last = instruction;
    return m_lastIndex = found.first->second;
  }

  // Oclgrind stores a vector that was made of elements twice: whole, and then each element, by a pair of instructions with
  // the same place in the source. That is one store.
  void notePartsOf(const void* store)
  {
    if (LLVMGetInstructionOpcode(store) != Store || LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(store, 0))) != Vector)
      return;
    const auto isBeside = [&](const void* one, Opcode opcode) {
      return one && LLVMGetInstructionOpcode(one) == opcode && LLVMGetDebugLocLine(one) == LLVMGetDebugLocLine(store) &&
             LLVMGetDebugLocColumn(one) == LLVMGetDebugLocColumn(store);
    };
    const void* const vector = LLVMGetOperand(store, 1);
    for (const void* pointer = LLVMGetNextInstruction(store);
         isBeside(pointer, GetElementPointer) && pointsInto(vector, pointer);)
    {
      const void* const element = LLVMGetNextInstruction(pointer);
      if (!isBeside(element, Store) || LLVMGetOperand(element, 1) != pointer)
        return;
      m_parts.insert(pointer);
      m_parts.insert(element);
      pointer = LLVMGetNextInstruction(element);
    }
  }

  // A lane waits when it first uses a value of a batch of loads that is on its way. A load that an unrolled loop would have
  // put before the last wait is of the batch that has arrived.
  void noteWait(unsigned index, unsigned turn)
  {
    Instruction& known = m_instructions[index];
    LaneLoads& lane = m_loads[m_lane];
    ValueLoads& value = m_values[index * m_warp + m_lane];
    unsigned needed = 0;
    for (UsedValue& operand : known.operands)
    {
      if (operand.index == unknown)
      {
        const auto found = m_indices.find(static_cast<const llvm::Instruction*>(operand.instruction));
        if (found == m_indices.end())
          continue;
        operand.index = found->second;
      }
      needed = std::max(needed, m_values[operand.index * m_warp + m_lane].batch);
    }
    if (needed > lane.arrived && !known.isMove)
      endWait(lane, value);
    value.batch = needed;
    const auto asks = [&](Kind kind) {
      return std::any_of(m_pending.begin(), m_pending.end(), [&](const Access& a) { return a.kind == kind; });
    };
    if (known.isBranch || (m_mayAlias && (asks(GlobalWrite) || asks(GlobalAtomic))))
      lane.decided = std::max(lane.decided, needed);
    if (asks(GlobalRead))
    {
      const bool isNew = value.firstBatch != lane.arrived;
      const bool isUnrolled = lane.arrived > 0 && std::max(needed, lane.decided) < lane.arrived &&
                              lane.executed - lane.waitedAt < unrolledInstructions &&
                              (isNew || turn - value.firstTurn < (known.isUnrolled ? unrolledTurns : 1));
      value.batch = lane.arrived + (isUnrolled ? 0 : 1);
      if (value.firstBatch != value.batch)
      {
        value.firstBatch = value.batch;
        value.firstTurn = turn;
      }
      if (!isUnrolled && !lane.isOnItsWay)
      {
        lane.isOnItsWay = true;
        lane.askedAt = lane.executed;
        lane.load = index;
      }
    }
    lane.executed += known.weight;
  }

  static void endWait(LaneLoads& lane, ValueLoads& value)
  {
    value.waits++;
    value.hidden += lane.executed - lane.askedAt;
    lane.arrived++;
    lane.waitedAt = lane.executed;
    lane.isOnItsWay = false;
  }

  void choose(const WorkItem* item)
  {
    if (item == m_item)
      return;
    const size_t linear = linearId(item);
    const size_t warp = linear / m_warp;
    if (m_item == nullptr || warp != m_current)
    {
      endWarp();
      m_current = warp;
      m_unordered |= m_done[warp];
    }
    m_item = item;
    m_lane = unsigned(linear % m_warp);
  }

  void note(const Memory* memory, const WorkItem* item, size_t address, size_t size, bool isWrite, bool isAtomic)
  {
    if (m_named.empty())
      choose(item);
    const unsigned space = memory->getAddressSpace();
    if (space == AddrSpacePrivate)
    {
      m_private++;
      return;
    }
    const bool isLocal = space == AddrSpaceLocal;
    Access access = {};
    access.kind = isAtomic  ? (isLocal ? LocalAtomic : GlobalAtomic)
                  : isWrite ? (isLocal ? LocalWrite : GlobalWrite)
                            : (isLocal ? LocalRead : GlobalRead);
    for (size_t at = 0; at < size; at += widestRequest)
    {
      access.address = address + at;
      access.size = std::min(widestRequest, size - at);
      m_pending.push_back(access);
    }
  }

  // Oclgrind reads and writes a pixel channel by channel, and what a linear sampler mixes several times. Neighbouring bytes are
  // asked for at once, each once.
  void joinPixels()
  {
    std::sort(m_pending.begin(), m_pending.end(), [](const Access& a, const Access& b) { return a.address < b.address; });
    std::vector<Access> joined;
    for (const Access& one : m_pending)
    {
      const size_t end = one.address + one.size;
      const bool isNext = !joined.empty() && one.address <= joined.back().address + joined.back().size &&
                          end - joined.back().address <= widestRequest;
      if (isNext)
        joined.back().size = std::max(joined.back().size, end - joined.back().address);
      else
        joined.push_back(one);
    }
    m_pending = joined;
  }

  // Adds what the items of the warp did since the last barrier.
  void endWarp()
  {
    if (m_item == nullptr)
      return;
    // What is still on its way has to arrive before the barrier, or before the warp ends.
    for (unsigned lane = 0; lane < m_warp; lane++)
      if (m_loads[lane].isOnItsWay)
        endWait(m_loads[lane], m_values[m_loads[lane].load * m_warp + lane]);
    for (size_t i = 0; i < m_instructions.size(); i++)
    {
      unsigned most = 0;
      uint64_t sum = 0;
      ValueLoads longest;
      for (unsigned lane = 0; lane < m_warp; lane++)
      {
        const unsigned turns = m_turns[i * m_warp + lane];
        const ValueLoads& value = m_values[i * m_warp + lane];
        most = std::max(most, turns);
        sum += turns;
        if (value.waits > longest.waits)
          longest = value;
      }
      m_instructions[i].issued += most;
      m_instructions[i].lanes += sum;
      m_instructions[i].waits += longest.waits;
      m_instructions[i].hidden += longest.hidden;
    }
    std::fill(m_turns.begin(), m_turns.end(), 0);
    std::fill(m_loads.begin(), m_loads.end(), LaneLoads());
    std::fill(m_values.begin(), m_values.end(), ValueLoads());
    addRequests();
    if (m_isTraced)
      traceWarp();
    m_done[m_current] = true;
    m_item = nullptr;
  }

  void addRequests()
  {
    const auto key = [&](const Access& a) {
      return std::make_tuple(a.instruction, a.turn, a.ordinal, int(a.kind), a.lane / m_together);
    };
    std::stable_sort(m_accesses.begin(), m_accesses.end(),
                     [&](const Access& a, const Access& b) {
                       return std::make_pair(key(a), a.lane) < std::make_pair(key(b), b.lane);
                     });
    for (size_t begin = 0; begin < m_accesses.size();)
    {
      size_t end = begin + 1;
      while (end < m_accesses.size() && key(m_accesses[end]) == key(m_accesses[begin]))
        end++;
      addRequest(&m_accesses[begin], &m_accesses[begin] + (end - begin));
      begin = end;
    }
    m_accesses.clear();
  }

  void addRequest(const Access* begin, const Access* end)
  {
    Requests counted;
    std::vector<Transaction> moved;
    counted.requests++;
    counted.items += uint64_t(end - begin);
    for (const Access* access = begin; access != end; access++)
      counted.bytes += access->size;
    switch (begin->kind)
    {
    case GlobalRead:
    case GlobalWrite:
      moved = transactions(begin, end);
      counted.segments += moved.size();
      counted.lines += pieces(begin, end, lineBytes).size();
      for (const Transaction& one : moved)
        counted.moved += one.size;
      if (begin->kind == GlobalRead)
        for (const size_t segment : pieces(begin, end, m_segment))
        {
          counted.newInGroup += m_loadedByGroup.insert(segment).second;
          counted.newInLaunch += m_loadedByLaunch.insert(segment).second;
        }
      noteMoment(begin, moved);
      break;
    case LocalRead:
    case LocalWrite:
      addPasses(begin, end, counted);
      break;
    case ConstantRead:
      counted.words += pieces(begin, end, wordBytes).size();
      break;
    case GlobalAtomic:
    case LocalAtomic:
      counted.passes += mostAtOneAddress(begin, end);
      break;
    default:
      break;
    }
    m_instructions[begin->instruction].memory[begin->kind] += counted;
    if (m_isTraced)
      m_requests[{begin->instruction, begin->turn}].push_back(traced(begin, end, counted, moved));
  }

  // What a request of global memory moves.
  std::vector<Transaction> transactions(const Access* begin, const Access* end) const
  {
    std::vector<Transaction> moved;
    if (m_rule == Strict)
    {
      if (isInStep(begin, end))
      {
        const size_t size = std::min(begin->size * halfWarp, largestTransaction);
        const size_t first = begin->address - begin->lane % halfWarp * begin->size;
        for (size_t at = 0; at < begin->size * halfWarp; at += size)
          moved.push_back({first + at, size});
        return moved;
      }
      for (const Access* access = begin; access != end; access++)
        for (const size_t piece : pieces(access, access + 1, smallestTransaction))
          moved.push_back({piece * smallestTransaction, smallestTransaction});
      return moved;
    }
    if (m_rule == Segments)
    {
      for (const size_t piece : pieces(begin, end, m_segment))
        moved.push_back({piece * m_segment, m_segment});
      return moved;
    }
    const size_t block = begin->size == 1 ? 32 : begin->size == 2 ? 64 : largestTransaction;
    for (const size_t piece : pieces(begin, end, block))
    {
      // The bytes of the block that are used.
      size_t first = (piece + 1) * block, last = piece * block;
      for (const Access* access = begin; access != end; access++)
      {
        const size_t from = std::max(access->address, piece * block);
        const size_t to = std::min(access->address + access->size, (piece + 1) * block);
        if (from >= to)
          continue;
        first = std::min(first, from);
        last = std::max(last, to - 1);
      }
      Transaction one = {piece * block, block};
      while (one.size > smallestTransaction && first / (one.size / 2) == last / (one.size / 2))
      {
        one.size /= 2;
        one.address = first / one.size * one.size;
      }
      moved.push_back(one);
    }
    return moved;
  }

  // Whether the k-th item asks for the k-th word of an aligned block.
  static bool isInStep(const Access* begin, const Access* end)
  {
    const size_t size = begin->size;
    const size_t block = std::min(size * halfWarp, largestTransaction);
    if ((size != 4 && size != 8 && size != 16) || begin->address < begin->lane % halfWarp * size)
      return false;
    const size_t first = begin->address - begin->lane % halfWarp * size;
    for (const Access* access = begin; access != end; access++)
      if (access->size != size || access->address != first + access->lane % halfWarp * size)
        return false;
    return first % block == 0;
  }

  void noteMoment(const Access* access, const std::vector<Transaction>& moved)
  {
    if (m_partitions == 0)
      return;
    std::vector<uint64_t>& each = m_moments[{m_phase, access->instruction, access->turn, int(access->kind)}];
    each.resize(m_partitions, 0);
    // Above 48 bits stands the buffer's number.
    for (const Transaction& one : moved)
      each[(one.address & ((uint64_t(1) << 48) - 1)) / partitionBytes % m_partitions]++;
  }

  // Adds what the busiest partition of each moment had to do.
  void endWindow()
  {
    for (const auto& moment : m_moments)
      m_instructions[std::get<1>(moment.first)].memory[std::get<3>(moment.first)].busiest +=
          *std::max_element(moment.second.begin(), moment.second.end());
    m_moments.clear();
  }

  // The executions of a warp, each once, in an order that is each lane's own: what only some lanes execute stands together.
  std::vector<std::pair<Execution, uint64_t>> merged() const
  {
    std::list<std::pair<Execution, uint64_t>> all; // with the lanes that execute it
    std::map<Execution, std::list<std::pair<Execution, uint64_t>>::iterator> places;
    for (unsigned lane = 0; lane < m_warp; lane++)
    {
      auto next = all.begin();
      for (const Execution& execution : m_order[lane])
      {
        auto place = places.find(execution);
        if (place == places.end())
          place = places.emplace(execution, all.insert(next, {execution, 0})).first;
        place->second->second |= uint64_t(1) << lane;
        next = std::next(place->second);
      }
    }
    return {all.begin(), all.end()};
  }

  // Writes what the warp did since the last barrier. A step is what the same lanes execute of a line, one after the other:
  // {"group": .., "warp": .., "phase": .., "file": .., "line": .., "lanes": hexadecimal bits, "issued": .., "executed": by
  // all items, "flops": .., "requests": [..]}; phase: the barriers that the group has met.
  void traceWarp()
  {
    const auto all = merged();
    std::string file;
    unsigned line = 0;
    for (size_t begin = 0; begin < all.size();)
    {
      uint64_t issued = 0, executed = 0, flops = 0;
      std::string requests;
      bool hasPlace = false;
      size_t end = begin;
      for (; end < all.size() && all[end].second == all[begin].second; end++)
      {
        const Instruction& one = m_instructions[all[end].first.first];
        // What has no place in the source belongs to what is before it.
        if (one.line && hasPlace && (one.line != line || one.file != file))
          break;
        if (one.line)
        {
          hasPlace = true;
          line = one.line;
          file = one.file;
        }
        const uint64_t lanes = uint64_t(__builtin_popcountll(all[end].second));
        issued += one.weight;
        executed += lanes * one.weight;
        flops += lanes * one.flops;
        for (const std::string& request : m_requests[all[end].first])
          requests += (requests.empty() ? "" : ",") + request;
      }
      m_trace << "{\"group\":" << m_groups - 1 << ",\"warp\":" << m_current << ",\"phase\":" << m_phase
              << ",\"file\":" << quoted(file) << ",\"line\":" << line << ",\"lanes\":\"" << std::hex << all[begin].second
              << std::dec << "\",\"issued\":" << issued << ",\"executed\":" << executed << ",\"flops\":" << flops
              << ",\"requests\":[" << requests << "]}\n";
      begin = end;
    }
    for (std::vector<Execution>& order : m_order)
      order.clear();
    m_requests.clear();
  }

  // {"kind": .., "array": its name, "size": bytes of an item, "lanes": hexadecimal bits, "at": [addresses of each lane],
  // "stored": [values], "moved_pieces": [[address, bytes] of each transaction, unless all are segments], and the counts}
  std::string traced(const Access* begin, const Access* end, const Requests& counted,
                     const std::vector<Transaction>& moved) const
  {
    uint64_t lanes = 0;
    std::string at, stored;
    const void* const instruction = m_instructions[begin->instruction].self;
    const bool isStore = LLVMGetInstructionOpcode(instruction) == Store;
    const bool isWhole = isStore && LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(instruction, 0))) != Vector;
    for (const Access* access = begin; access != end; access++)
    {
      const char* const comma = access == begin ? "" : ",";
      lanes |= uint64_t(1) << access->lane;
      at += comma + std::to_string(access->address);
      if (isWhole)
        stored += comma + quoted(valueOf(*access, isFloat(LLVMGetOperand(instruction, 0))));
    }
    std::ostringstream out;
    out << "{\"kind\":\"" << kindNames[begin->kind] << "\",\"array\":" << quoted(arrayOf(instruction))
        << ",\"size\":" << begin->size << ",\"lanes\":\"" << std::hex << lanes << std::dec << "\",\"at\":[" << at
        << "],\"stored\":[" << stored << "],\"moved_pieces\":[";
    for (size_t i = 0; m_rule != Segments && i < moved.size(); i++)
      out << (i ? ",[" : "[") << moved[i].address << "," << moved[i].size << "]";
    out << "],";
    writeCounts(out, counted);
    out << "}";
    return out.str();
  }

  static std::string valueOf(const Access& access, bool isFloat)
  {
    char text[32] = "";
    const auto as = [&](auto value) {
      memcpy(&value, access.stored.data(), sizeof value);
      return value;
    };
    if (isFloat && access.size == 4)
      snprintf(text, sizeof text, "%.6g", double(as(0.0f)));
    else if (isFloat && access.size == 8)
      snprintf(text, sizeof text, "%.6g", as(0.0));
    else if (!isFloat && access.size == 4)
      snprintf(text, sizeof text, "%d", as(int32_t(0)));
    else if (!isFloat && access.size == 8)
      snprintf(text, sizeof text, "%lld", static_cast<long long>(as(int64_t(0))));
    else if (!isFloat && access.size == 1)
      snprintf(text, sizeof text, "%d", as(uint8_t(0)));
    else if (!isFloat && access.size == 2)
      snprintf(text, sizeof text, "%d", as(uint16_t(0)));
    return text;
  }

  // The name of the parameter or of the local array that a load or store reaches: that of the pointer it is computed from.
  static std::string arrayOf(const void* instruction)
  {
    const int opcode = LLVMGetInstructionOpcode(instruction);
    const int count = LLVMGetNumOperands(instruction);
    const void* pointer = nullptr;
    for (int i = 0; i < count && !pointer; i++)
    {
      const void* const operand = LLVMGetOperand(instruction, opcode == Store ? 1 - i : i);
      if (LLVMGetTypeKind(LLVMTypeOf(operand)) == Pointer)
        pointer = operand;
    }
    for (unsigned depth = 0; pointer && depth < 32; depth++)
    {
      if (LLVMIsAArgument(pointer) || LLVMIsAGlobalVariable(pointer))
      {
        size_t length = 0;
        const char* const name = LLVMGetValueName2(pointer, &length);
        const std::string whole(name ? name : "", length);
        return whole.substr(whole.rfind('.') == std::string::npos ? 0 : whole.rfind('.') + 1);
      }
      pointer = LLVMIsAUser(pointer) && LLVMGetNumOperands(pointer) > 0 ? LLVMGetOperand(pointer, 0) : nullptr;
    }
    return "";
  }

  // The different pieces of memory, each so many bytes long, that hold a byte that is asked for.
  static std::vector<size_t> pieces(const Access* begin, const Access* end, size_t bytes)
  {
    std::vector<size_t> found;
    for (const Access* access = begin; access != end; access++)
      for (size_t piece = access->address / bytes; piece <= (access->address + access->size - 1) / bytes; piece++)
        found.push_back(piece);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  static uint64_t mostAtOneAddress(const Access* begin, const Access* end)
  {
    std::map<size_t, uint64_t> items;
    uint64_t most = 0;
    for (const Access* access = begin; access != end; access++)
      most = std::max(most, ++items[access->address]);
    return most;
  }

  // Whether each lane asks for the same as the lane at this distance, where that asks for anything.
  static bool arePairs(const Access* begin, const Access* end, unsigned distance)
  {
    for (const Access* one = begin; one != end; one++)
      for (const Access* other = one + 1; other != end && other->lane <= one->lane + distance; other++)
        if (other->lane == (one->lane ^ distance) && other->address != one->address)
          return false;
    return true;
  }

  // Lanes go together as far as their words come to one word for each lane of the warp; pairs that read the same, as one.
  void addPasses(const Access* begin, const Access* end, Requests& counted) const
  {
    if (m_rule != Segments)
      return addPassesOfHalf(begin, end, counted);
    size_t widest = 0;
    for (const Access* access = begin; access != end; access++)
      widest = std::max(widest, access->size);
    unsigned parts = widest > 2 * wordBytes ? 4 : widest > wordBytes ? 2 : 1;
    if (parts > 1 && begin->kind == LocalRead && (arePairs(begin, end, 1) || arePairs(begin, end, 2)))
      parts /= 2;
    const unsigned together = std::max(m_warp / parts, 1u);
    bool isShared = false;
    for (const Access* from = begin; from != end;)
    {
      const Access* to = from;
      size_t asked = 0;
      while (to != end && to->lane / together == from->lane / together)
      {
        asked += (to->address + to->size - 1) / wordBytes - to->address / wordBytes + 1;
        to++;
      }
      const std::vector<size_t> words = pieces(from, to, wordBytes);
      std::vector<uint64_t> ofBank(m_banks, 0);
      for (const size_t word : words)
        ofBank[word % m_banks]++;
      const uint64_t passes = *std::max_element(ofBank.begin(), ofBank.end());
      counted.passes += passes;
      counted.conflicts += passes - (words.size() + m_banks - 1) / m_banks;
      isShared |= words.size() < asked;
      from = to;
    }
    counted.broadcasts += isShared;
  }

  // Half a warp, word by word of what an item asks for; a pass serves one word to all items, and one item of each other bank.
  void addPassesOfHalf(const Access* begin, const Access* end, Requests& counted) const
  {
    size_t widest = 0;
    for (const Access* access = begin; access != end; access++)
      widest = std::max(widest, access->size);
    const bool isRead = begin->kind == LocalRead;
    bool isShared = false;
    for (size_t at = 0; at < widest; at += wordBytes)
    {
      std::map<size_t, unsigned> items; // that still wait for a word
      std::unordered_set<size_t> written;
      for (const Access* access = begin; access != end; access++)
        if (at < access->size && (isRead || written.insert(access->address).second))
          items[(access->address + at) / wordBytes]++;
      const size_t words = items.size();
      uint64_t passes = 0;
      for (; !items.empty(); passes++)
      {
        std::unordered_set<size_t> busy; // banks
        if (isRead)
        {
          const auto given = std::max_element(items.begin(), items.end(),
                                              [](const auto& a, const auto& b) { return a.second < b.second; });
          isShared |= given->second > 1;
          busy.insert(given->first % m_banks);
          items.erase(given);
        }
        for (auto word = items.begin(); word != items.end();)
          word = busy.insert(word->first % m_banks).second && --word->second == 0 ? items.erase(word) : std::next(word);
      }
      counted.passes += passes;
      counted.conflicts += passes - (words + m_banks - 1) / m_banks;
    }
    counted.broadcasts += isShared;
  }

  // {"kernel": .., "program": .., "wg": [..], "groups": .., .., "instructions": [{"file": .., "line": .., "issued": .., "lanes": .., "flops": ..,
  // "memory": {"global_read": {..}}}]}, one line for each launch. Instructions come in the order in which they were first
  // executed, and without the kinds of memory that they do not touch.
  void write()
  {
    m_file << "{\"kernel\":" << quoted(m_kernel) << ",\"program\":" << m_program << ",\"wg\":[" << m_local.x << ","
           << m_local.y << "," << m_local.z << "],\"groups\":" << m_groups << ",\"items\":" << m_items
           << ",\"warps\":" << m_warps << ",\"barriers\":" << m_barriers << ",\"copies\":" << m_copies
           << ",\"private\":" << m_private << ",\"unordered\":" << (m_unordered ? "true" : "false")
           << ",\"instructions\":[";
    const char* comma = "";
    for (const Instruction& one : m_instructions)
    {
      m_file << comma << "{\"file\":" << quoted(one.file) << ",\"line\":" << one.line
             << ",\"issued\":" << one.issued * one.weight << ",\"lanes\":" << one.lanes * one.weight
             << ",\"flops\":" << one.lanes * one.flops << ",\"divisions\":" << (one.isDivision ? one.issued * one.weight : 0)
             << ",\"waits\":" << one.waits << ",\"hidden\":" << one.hidden << ",\"memory\":{";
      writeMemory(one);
      m_file << "}}";
      comma = ",";
    }
    m_file << "]}\n" << std::flush;
  }

  void writeMemory(const Instruction& one)
  {
    const char* comma = "";
    for (unsigned kind = 0; kind < Kinds; kind++)
    {
      const Requests& r = one.memory[kind];
      if (r.requests == 0)
        continue;
      m_file << comma << quoted(kindNames[kind]) << ":{";
      writeCounts(m_file, r);
      m_file << "}";
      comma = ",";
    }
  }

  static void writeCounts(std::ostream& out, const Requests& r)
  {
    out << "\"requests\":" << r.requests << ",\"items\":" << r.items << ",\"bytes\":" << r.bytes
        << ",\"segments\":" << r.segments << ",\"lines\":" << r.lines << ",\"group_segments\":" << r.newInGroup
        << ",\"launch_segments\":" << r.newInLaunch << ",\"passes\":" << r.passes << ",\"conflicts\":" << r.conflicts
        << ",\"broadcasts\":" << r.broadcasts << ",\"words\":" << r.words << ",\"moved\":" << r.moved
        << ",\"busiest\":" << r.busiest;
  }
};

// GPUs' compilers unroll loops of constant length even where that makes long code, so that arrays of items lie in registers.
// LLVM takes an option once in a process, which may make several contexts.
void unrollLikeAGpu()
{
  static bool isDone = false;
  const char* const options[] = {"gpulab", "-unroll-threshold=10000"};
  if (!isDone)
    LLVMParseCommandLineOptions(2, options, nullptr);
  isDone = true;
}

Counter* counter = nullptr;
} // namespace
