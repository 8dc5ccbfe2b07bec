
// Functions of sub-groups, which Oclgrind lacks; subgroups.cl declares them. A sub-group is a warp. Oclgrind runs one work-item
// after the other. An item that comes to such a function first makes the others of its warp run until each has come to one,
// ended, or waits at the group's barrier. Where items have come to different functions, the first one of the kernel's text is
// next. What stands in an item's way is thrown as an exception: Oclgrind then executes the call once more.
namespace
{
// Lanes that come together at a call, with their values.
using Meeting = std::map<unsigned, std::vector<unsigned char>>;

struct Arrival
{
  const void* call;
  unsigned lane;
  std::vector<unsigned char> value;
};

std::map<const WorkItem*, Arrival> arrivals;                     // of items that wait for others
std::map<const WorkItem*, std::shared_ptr<const Meeting>> over; // what items that need not wait any more have met
bool isLeading = false;                                         // whether one makes the others run

struct Wait
{
};

struct Lead
{
  Lead()
  {
    isLeading = true;
  }
  ~Lead()
  {
    isLeading = false;
  }
};

// An item's place in its group.
struct Seat
{
  explicit Seat(const WorkItem* item) : size(item->getWorkGroup()->getGroupSize())
  {
    const Size3 id = item->getLocalID();
    const size_t linear = (id.z * size.y + id.y) * size.x + id.x;
    items = size.x * size.y * size.z;
    warp = setting("GPULAB_COUNT_WARP", 32);
    first = linear / warp * warp;
    lane = unsigned(linear - first);
    lanes = unsigned(std::min<size_t>(warp, items - first));
  }

  Size3 size;
  size_t items, first; // of the group; before the sub-group
  unsigned warp, lane, lanes;
};

TypedValue argument(WorkItem* item, const void* call, unsigned index)
{
  return item->getOperand(static_cast<const llvm::Value*>(LLVMGetOperand(call, index)));
}

void forgetMeetings()
{
  arrivals.clear();
  over.clear();
}

// Where a call stands in the text of its function.
unsigned placeOf(const void* call)
{
  static std::map<const void*, unsigned> places;
  if (!places.count(call))
    for (const void* block = LLVMGetFirstBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call))); block;
         block = LLVMGetNextBasicBlock(block))
      for (const void* one = LLVMGetFirstInstruction(block); one; one = LLVMGetNextInstruction(one))
        places[one] = unsigned(places.size());
  return places[call];
}

// Lets the items that have come to the first call go on.
void endFirst()
{
  const auto isBefore = [](const auto& a, const auto& b) { return placeOf(a.second.call) < placeOf(b.second.call); };
  const void* const call = std::min_element(arrivals.begin(), arrivals.end(), isBefore)->second.call;
  const auto meeting = std::make_shared<Meeting>();
  for (auto one = arrivals.begin(); one != arrivals.end();)
  {
    if (one->second.call != call)
    {
      one++;
      continue;
    }
    (*meeting)[one->second.lane] = one->second.value;
    over[one->first] = meeting;
    one = arrivals.erase(one);
  }
}

// What the lanes of an item's sub-group bring to a call.
std::shared_ptr<const Meeting> meet(WorkItem* item, const void* call, const Seat& seat)
{
  if (!over.count(item))
  {
    const TypedValue brought = argument(item, call, 0);
    const std::vector<unsigned char> value(brought.data, brought.data + size_t(brought.size) * brought.num);
    arrivals[item] = {call, seat.lane, value};
    if (isLeading)
      throw Wait();
    const Lead lead;
    while (!over.count(item))
    {
      for (unsigned lane = 0; lane < seat.lanes; lane++)
      {
        WorkItem* const other = item->getWorkGroup()->getWorkItem(Size3(seat.first + lane, seat.size));
        while (other != item && other->getState() == WorkItem::READY && !arrivals.count(other))
          try
          {
            other->step();
          }
          catch (const Wait&)
          {
          }
      }
      endFirst();
    }
  }
  const auto meeting = over.at(item);
  over.erase(item);
  return meeting;
}

template <typename T> T of(const std::vector<unsigned char>& bytes)
{
  T value;
  memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The values of lanes from `from` to before `to` in one; none of them are the operation's identity.
template <typename T> T joined(const Meeting& here, const std::string& name, unsigned from, unsigned to)
{
  const bool isSum = endsWith(name, "_add"), isLeast = endsWith(name, "_min");
  using Limits = std::numeric_limits<T>;
  const T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const T largest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  T whole = isSum ? T(0) : isLeast ? largest : least;
  for (auto one = here.lower_bound(from); one != here.end() && one->first < to; one++)
  {
    const T value = of<T>(one->second);
    whole = isSum ? whole + value : isLeast ? std::min(whole, value) : std::max(whole, value);
  }
  return whole;
}

template <typename T>
T joinedFor(const Meeting& here, const std::string& name, const Seat& seat)
{
  const unsigned end = startsWith(name, "sub_group_reduce")          ? seat.lanes
                       : startsWith(name, "sub_group_scan_inclusive") ? seat.lane + 1
                                                                      : seat.lane;
  return joined<T>(here, name, 0, end);
}

template <typename T> void give(TypedValue& result, T value)
{
  memcpy(result.data, &value, sizeof value);
}

void place(WorkItem* item, const llvm::CallInst*, const std::string& name, const std::string&, TypedValue& result, void*)
{
  const Seat seat(item);
  const uint32_t value = name == "get_sub_group_size"       ? seat.lanes
                         : name == "get_sub_group_id"       ? uint32_t(seat.first / seat.warp)
                         : name == "get_sub_group_local_id" ? seat.lane
                                                            : uint32_t((seat.items + seat.warp - 1) / seat.warp);
  give(result, value);
}

// Of a group that is one sub-group it is the group's own barrier: so the search for races knows of it.
void come(WorkItem* item, const llvm::CallInst* call, const std::string& name, const std::string& overload,
          TypedValue& result, void*)
{
  const Seat seat(item);
  if (seat.lanes < seat.items || setting("GPULAB_RACES", 0) == 0)
  {
    meet(item, call, seat);
    return;
  }
  const BuiltinFunction barrier = workItemBuiltins.at("barrier");
  barrier.func(item, call, name, overload, result, barrier.op);
}

void vote(WorkItem* item, const llvm::CallInst* call, const std::string& name, const std::string&, TypedValue& result, void*)
{
  const auto here = meet(item, call, Seat(item));
  const auto agrees = [](const auto& one) { return of<int32_t>(one.second) != 0; };
  const auto begin = here->begin(), end = here->end();
  give(result, int32_t(name == "sub_group_all" ? std::all_of(begin, end, agrees) : std::any_of(begin, end, agrees)));
}

void join(WorkItem* item, const llvm::CallInst* call, const std::string& name, const std::string& type, TypedValue& result,
          void*)
{
  const Seat seat(item);
  const auto here = meet(item, call, seat);
  switch (type[0])
  {
  case 'i':
    return give(result, joinedFor<int32_t>(*here, name, seat));
  case 'j':
    return give(result, joinedFor<uint32_t>(*here, name, seat));
  case 'l':
    return give(result, joinedFor<int64_t>(*here, name, seat));
  case 'm':
    return give(result, joinedFor<uint64_t>(*here, name, seat));
  case 'f':
    return give(result, joinedFor<float>(*here, name, seat));
  default:
    return give(result, joinedFor<double>(*here, name, seat));
  }
}

// A lane that takes no part has no value: the item then keeps its own.
void shuffle(WorkItem* item, const llvm::CallInst* call, const std::string& name, const std::string&, TypedValue& result,
             void*)
{
  const Seat seat(item);
  const unsigned by = unsigned(argument(item, call, 1).getUInt());
  const unsigned from = endsWith(name, "_xor")    ? seat.lane ^ by
                        : endsWith(name, "_up")   ? seat.lane - by
                        : endsWith(name, "_down") ? seat.lane + by
                                                  : by;
  const auto here = meet(item, call, seat);
  const auto given = here->find(from);
  const auto& bytes = given == here->end() ? here->at(seat.lane) : given->second;
  std::copy(bytes.begin(), bytes.end(), result.data);
}

void addSubgroups()
{
  const auto add = [](const char* name, auto* function) { workItemBuiltins[name] = BuiltinFunction(function, nullptr); };
  for (const char* name : {"get_sub_group_size", "get_num_sub_groups", "get_enqueued_num_sub_groups", "get_sub_group_id",
                           "get_sub_group_local_id"})
    add(name, place);
  add("sub_group_barrier", come);
  add("sub_group_all", vote);
  add("sub_group_any", vote);
  for (const char* kind : {"reduce", "scan_inclusive", "scan_exclusive"})
    for (const char* operation : {"add", "min", "max"})
      add((std::string("sub_group_") + kind + "_" + operation).c_str(), join);
  for (const char* name : {"broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"})
    add((std::string("sub_group_") + name).c_str(), shuffle);
  add("intel_sub_group_shuffle", shuffle);
  add("intel_sub_group_shuffle_xor", shuffle);
}
} // namespace
