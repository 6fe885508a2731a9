#include "hccl/coll/plan.h"

#include <algorithm>
#include <bit>
#include <map>

namespace ropeway::comm {
namespace {

using Kind = Step::Kind;
using Group = std::vector<uint32_t>;  // ranks, in an order that all of them know

constexpr uint64_t kLine = 64;

uint64_t Least(uint64_t a, uint64_t b) { return a < b ? a : b; }

class Planner {
 public:
  explicit Planner(const CollectiveShape& shape) : shape_(shape), me_(shape.rank), all_(shape.ranks()) {
    for (uint32_t rank = 0; rank < shape.ranks(); ++rank) all_[rank] = rank;
    FindHosts();
  }

  CollectivePlan Make() {
    switch (shape_.what) {
      case Collective::kAllReduce: AllReduce(); break;
      case Collective::kReduce: Reduce(); break;
      case Collective::kReduceScatter: ReduceScatter(); break;
      case Collective::kAllGather: AllGather(); break;
      case Collective::kBroadcast: Broadcast(); break;
      case Collective::kScatter: Scatter(); break;
      case Collective::kAllToAll: AllToAll(); break;
    }
    NumberMessages();
    return std::move(plan_);
  }

 private:
  void NumberMessages() {
    std::vector<uint32_t> sent(all_.size()), received(all_.size());
    for (Step& step : plan_.steps)
      if (step.IsTransfer()) step.message = (step.kind == Kind::kSend ? sent : received)[step.peer]++;
  }

  // --- Words of a program. What has no bytes is left out on both sides. ---

  void Send(uint32_t peer, const Span& from) {
    if (from.bytes > 0) plan_.steps.push_back({Kind::kSend, peer, from, {}});
  }
  void Receive(uint32_t peer, const Span& to) {
    if (to.bytes > 0) plan_.steps.push_back({Kind::kReceive, peer, {}, to});
  }
  void Combine(uint32_t peer, const Span& from, const Span& to, bool peer_first) {
    if (to.bytes > 0) plan_.steps.push_back({Kind::kCombine, peer, from, to, peer_first});
  }
  void Copy(const Span& from, const Span& to) {
    if (to.bytes > 0) plan_.steps.push_back({Kind::kCopy, 0, from, to});
  }
  void ReduceHere(const Span& from, const Span& to) { plan_.steps.push_back({Kind::kReduce, 0, from, to}); }
  void Await() { plan_.steps.push_back({Kind::kAwait, 0, {}, {}}); }

  static Span In(uint64_t offset, uint64_t bytes) { return {Place::kInput, offset, bytes}; }
  static Span Out(uint64_t offset, uint64_t bytes) { return {Place::kOutput, offset, bytes}; }
  // Room of its own, whole lines of the cache.
  Span Scratch(uint64_t bytes) {
    const uint64_t offset = plan_.scratch_bytes;
    plan_.scratch_bytes += (bytes + kLine - 1) / kLine * kLine;
    return {Place::kScratch, offset, bytes};
  }
  static Span In(const Block& block) { return In(block.offset, block.bytes); }
  static Span Out(const Block& block) { return Out(block.offset, block.bytes); }

  // --- Groups ---

  // Ranks of this host, and those that have this rank's place on every host, where all hosts have equally many.
  void FindHosts() {
    std::map<uint32_t, Group> hosts;
    for (const uint32_t rank : all_) hosts[shape_.hosts[rank]].push_back(rank);
    here_ = hosts[shape_.hosts[me_]];
    const auto place = static_cast<size_t>(std::find(here_.begin(), here_.end(), me_) - here_.begin());
    for (const auto& [host, ranks] : hosts) {
      even_ = even_ && ranks.size() == here_.size();
      by_host_.push_back(ranks);
    }
    // Every host's order is that of its first rank, whatever the hosts' numbers are.
    std::sort(by_host_.begin(), by_host_.end());
    for (const Group& ranks : by_host_) {
      if (even_) across_.push_back(ranks[place]);
    }
  }
  bool OneHost() const { return by_host_.size() == 1; }

  uint32_t IndexIn(const Group& group, uint32_t rank) const {
    return static_cast<uint32_t>(std::find(group.begin(), group.end(), rank) - group.begin());
  }
  Block Part(const Block& block, uint32_t index, size_t parts) const { return PartOf(block, index, parts, shape_.element_bytes); }

  // --- Pieces of algorithms, inside a group. ---

  // Part i of `block` is reduced at the group's i-th rank: its own elements are in `from`, the result is in the output.
  void ReduceParts(const Group& group, const Block& block, Place from) {
    if (group.size() <= kDirectRanks) return ReducePartsDirectly(group, block, from);
    const size_t size = group.size();
    const size_t own = IndexIn(group, me_);
    const uint32_t right = group[(own + 1) % size], left = group[(own + size - 1) % size];
    for (size_t k = 0; k + 1 < size; ++k) {
      // The part that ends at rank i starts at rank i + 1 and goes all the way round.
      const Block out = Part(block, static_cast<uint32_t>((own + 2 * size - 1 - k) % size), size);
      const Block in = Part(block, static_cast<uint32_t>((own + 2 * size - 2 - k) % size), size);
      Send(right, {k == 0 ? from : Place::kOutput, out.offset, out.bytes});
      Combine(left, {from, in.offset, in.bytes}, Out(in), true);
      Await();
    }
  }
  void ReducePartsDirectly(const Group& group, const Block& block, Place from) {
    const size_t size = group.size();
    const size_t own = IndexIn(group, me_);
    // In the order in which they are wanted.
    for (size_t k = 1; k < size; ++k) {
      const size_t to = (own + size - k) % size;
      const Block part = Part(block, static_cast<uint32_t>(to), size);
      Send(group[to], {from, part.offset, part.bytes});
    }
    const Block mine = Part(block, static_cast<uint32_t>(own), size);
    for (size_t k = 1; k < size; ++k) {
      Combine(group[(own + k) % size], {k == 1 ? from : Place::kOutput, mine.offset, mine.bytes}, Out(mine), false);
      Await();
    }
  }

  // Part i of `block` of the output is at the group's i-th rank, and in the end everywhere. What a part overwrites has been read by then:
  // its owner made the part of it.
  void GatherParts(const Group& group, const Block& block) {
    const size_t size = group.size();
    const size_t own = IndexIn(group, me_);
    const auto part = [&](size_t index) { return Out(Part(block, static_cast<uint32_t>(index % size), size)); };
    if (size <= kDirectRanks) {
      for (size_t k = 1; k < size; ++k) Send(group[(own + k) % size], part(own));
      for (size_t k = 1; k < size; ++k) Receive(group[(own + size - k) % size], part(own + size - k));
      return Await();
    }
    for (size_t k = 0; k + 1 < size; ++k) {
      Send(group[(own + 1) % size], part(own + size - k));
      Receive(group[(own + size - 1) % size], part(own + 2 * size - 1 - k));
      Await();
    }
  }

  // `span` of the group's first rank gets to all of them.
  void Spread(const Group& group, const Span& span) {
    const size_t size = group.size();
    const size_t own = IndexIn(group, me_);
    if (size <= kDirectRanks) {
      for (size_t i = 1; i < size && own == 0; ++i) Send(group[i], span);
      if (own != 0) Receive(group[0], span);
      return Await();
    }
    // A binomial tree: rank i hears from i without its lowest bit, and tells those that have one more.
    const size_t lowest = own == 0 ? std::bit_ceil(size) : own & (~own + 1);
    if (own != 0) Receive(group[own - lowest], span);
    Await();
    for (size_t step = lowest / 2; step > 0; step /= 2) {
      if (own + step < size) Send(group[own + step], span);
    }
  }

  // --- Collectives ---

  void AllReduce() {
    const uint64_t bytes = shape_.bytes;
    if (all_.size() == 1) return CopyUnlessInPlace(In(0, bytes), Out(0, bytes));
    if (bytes <= kEagerBytes) return all_.size() <= kDirectRanks ? AllReduceSmall() : AllReduceByDoubling();
    if (OneHost() || !even_) {
      ReduceParts(all_, {0, bytes}, Place::kInput);
      return GatherParts(all_, {0, bytes});
    }
    // Inside each host first; then those meet that have the same part.
    const Block part = Part({0, bytes}, IndexIn(here_, me_), here_.size());
    ReduceParts(here_, {0, bytes}, Place::kInput);
    ReduceParts(across_, part, here_.size() == 1 ? Place::kInput : Place::kOutput);
    GatherParts(across_, part);
    GatherParts(here_, {0, bytes});
  }

  // Everybody sends to everybody, and all reduce in the order of the ranks.
  void AllReduceSmall() {
    const Span in = In(0, shape_.bytes), out = Out(0, shape_.bytes);
    for (size_t k = 1; k < all_.size(); ++k) Send(static_cast<uint32_t>((me_ + k) % all_.size()), in);
    Span own = in;
    if (shape_.in_place && me_ > 1) {
      own = Scratch(shape_.bytes);
      Copy(in, own);
    }
    // The first two at once.
    if (me_ <= 1) {
      Combine(1 - me_, in, out, me_ == 1);
    } else {
      Receive(0, out);
      Await();
      Combine(1, out, out, false);
    }
    Await();
    for (uint32_t rank = 2; rank < all_.size(); ++rank) {
      if (rank == me_) {
        ReduceHere(own, out);
      } else {
        Combine(rank, out, out, false);
        Await();
      }
    }
  }

  // In each round a rank and its partner combine what they have, the lower one's first. Ranks beyond the largest power of two join a
  // neighbour before, and hear from it afterwards.
  void AllReduceByDoubling() {
    const Span out = Out(0, shape_.bytes);
    const uint32_t size = shape_.ranks(), power = std::bit_floor(size), extra = size - power;
    CopyUnlessInPlace(In(0, shape_.bytes), out);
    const bool joins = me_ < 2 * extra;
    if (joins && me_ % 2 == 1) {
      Send(me_ - 1, out);
      Receive(me_ - 1, out);
      return Await();
    }
    if (joins) {
      Combine(me_ + 1, out, out, false);
      Await();
    }
    const auto rank_of = [&](uint32_t place) { return place < extra ? 2 * place : place + extra; };
    const uint32_t place = joins ? me_ / 2 : me_ - extra;
    for (uint32_t bit = 1; bit < power; bit *= 2) {
      const uint32_t partner = rank_of(place ^ bit);
      Send(partner, out);
      Combine(partner, out, out, (place & bit) != 0);
      Await();
    }
    if (joins) Send(me_ + 1, out);
  }

  // The root's own elements first, then round the ranks.
  void Reduce() {
    const Span in = In(0, shape_.bytes), out = Out(0, shape_.bytes);
    if (!OneHost() && shape_.bytes > kEagerBytes) return ReduceByHosts();
    if (me_ != shape_.root) return Send(shape_.root, in);
    if (all_.size() == 1) return CopyUnlessInPlace(in, out);
    CombineAll(all_, in, out);
  }
  // One rank of each host combines what is there, and the root what those have: of each host the bytes cross once.
  void ReduceByHosts() {
    const uint32_t leader = LeaderOf(shape_.hosts[me_]);
    const Span in = In(0, shape_.bytes), out = Out(0, shape_.bytes);
    if (me_ != leader) return Send(leader, in);
    Span there = in;  // what this host comes to
    if (here_.size() > 1) {
      there = me_ == shape_.root ? out : Scratch(shape_.bytes);
      CombineAll(here_, in, there);
    }
    if (me_ != shape_.root) return Send(shape_.root, there);
    CombineAll(Leaders(), there, out);
  }
  // What the others of a group send, from the own place on round them, with what this rank has.
  void CombineAll(const Group& group, const Span& own, const Span& to) {
    const size_t size = group.size(), place = IndexIn(group, me_);
    for (size_t k = 1; k < size; ++k) {
      Combine(group[(place + k) % size], k == 1 ? own : to, to, false);
      Await();
    }
  }

  void ReduceScatter() {
    const Block mine = shape_.sends[me_];
    const Span out = Out(0, mine.bytes);
    const size_t size = all_.size();
    if (!OneHost() && even_ && here_.size() > 1 && BytesToScatter() > kEagerBytes) return ReduceScatterByHosts();
    for (size_t k = 1; k < size; ++k) {
      const auto to = static_cast<uint32_t>((me_ + size - k) % size);
      Send(to, In(shape_.sends[to]));
    }
    if (size == 1) return CopyUnlessInPlace(In(mine), out);
    CombineAll(all_, In(mine), out);
  }
  // Inside each host first: who has a place there combines the blocks of all that have it, on every host, and sends them what is theirs. So
  // of each host a block crosses once. The own block comes last, when the others are on their way.
  void ReduceScatterByHosts() {
    const size_t ranks = here_.size(), hosts = across_.size();
    const size_t place = IndexIn(here_, me_), host = IndexIn(across_, me_);
    for (size_t k = 1; k < ranks; ++k) {
      const size_t to = (place + ranks - k) % ranks;
      for (size_t j = 1; j <= hosts; ++j) Send(here_[to], In(shape_.sends[by_host_[(host + j) % hosts][to]]));
    }
    const Span out = Out(0, shape_.sends[me_].bytes);
    for (size_t j = 1; j <= hosts; ++j) {
      const uint32_t owner = across_[(host + j) % hosts];
      const Span block = In(shape_.sends[owner]), there = owner == me_ ? out : Scratch(block.bytes);
      CombineAll(here_, block, there);
      if (owner != me_) Send(owner, there);
    }
    CombineAll(across_, out, out);
  }
  uint64_t BytesToScatter() const {
    uint64_t bytes = 0;
    for (const uint32_t rank : all_) bytes += shape_.sends[rank].bytes;
    return bytes;
  }

  void AllGather() {
    if (OneHost() || !even_ || here_.size() == 1) return GatherOwnBlocks(all_);
    // First between hosts, everything once; then inside.
    GatherOwnBlocks(across_);
    GatherBlocks(here_, across_, [&](uint32_t rank) {
      Group with_it;
      for (const Group& host : by_host_) with_it.push_back(host[IndexIn(here_, rank)]);
      return with_it;
    });
  }
  // The own block is sent from where it is, and copied while it travels.
  void GatherOwnBlocks(const Group& group) {
    const size_t size = group.size();
    const size_t own = IndexIn(group, me_);
    const Span input = In(0, shape_.receives[me_].bytes), output = Out(shape_.receives[me_]);
    for (size_t k = 1; k < size; ++k) Send(group[(own + k) % size], shape_.in_place ? output : input);
    for (size_t k = 1; k < size; ++k) {
      const uint32_t peer = group[(own + size - k) % size];
      Receive(peer, Out(shape_.receives[peer]));
    }
    CopyUnlessInPlace(input, output);
    Await();
  }
  // Every rank of the group has the blocks of `owners_of` it, and in the end of all.
  template <typename OwnersOf>
  void GatherBlocks(const Group& group, const Group& own_blocks, const OwnersOf& owners_of) {
    const size_t size = group.size();
    const size_t own = IndexIn(group, me_);
    for (size_t k = 1; k < size; ++k) {
      for (const uint32_t owner : own_blocks) Send(group[(own + k) % size], Out(shape_.receives[owner]));
    }
    for (size_t k = 1; k < size; ++k) {
      const uint32_t peer = group[(own + size - k) % size];
      for (const uint32_t owner : owners_of(peer)) Receive(peer, Out(shape_.receives[owner]));
    }
    Await();
  }

  // The first ranks of the hosts hear of it first, then those beside them.
  void Broadcast() {
    const Span buffer = Out(0, shape_.bytes);
    const Group leaders = Leaders();
    Group beside{LeaderOf(shape_.hosts[me_])};
    for (const uint32_t rank : here_) {
      if (rank != beside[0]) beside.push_back(rank);
    }
    if (me_ == beside[0]) Spread(leaders, buffer);
    Spread(beside, buffer);
  }
  // Of all hosts, the root first.
  Group Leaders() const {
    Group leaders{shape_.root};
    for (const Group& host : by_host_) {
      const uint32_t leader = LeaderOf(shape_.hosts[host[0]]);
      if (leader != shape_.root) leaders.push_back(leader);
    }
    return leaders;
  }
  uint32_t LeaderOf(uint32_t host) const {
    if (shape_.hosts[shape_.root] == host) return shape_.root;
    return static_cast<uint32_t>(std::find(shape_.hosts.begin(), shape_.hosts.end(), host) - shape_.hosts.begin());
  }

  void Scatter() {
    const Span out = Out(0, shape_.bytes);
    if (me_ != shape_.root) return Receive(shape_.root, out);
    for (size_t k = 1; k < all_.size(); ++k) {
      const auto to = static_cast<uint32_t>((me_ + k) % all_.size());
      Send(to, In(shape_.sends[to]));
    }
    CopyUnlessInPlace(In(shape_.sends[me_]), out);
  }

  void AllToAll() {
    const size_t size = all_.size();
    for (size_t k = 1; k < size; ++k) {
      const auto to = static_cast<uint32_t>((me_ + k) % size), from = static_cast<uint32_t>((me_ + size - k) % size);
      Receive(from, Out(shape_.receives[from]));
      Send(to, In(shape_.sends[to]));
    }
    Copy(In(shape_.sends[me_]), Out(shape_.receives[me_]));
  }

  void CopyUnlessInPlace(const Span& from, const Span& to) {
    if (!shape_.in_place) Copy(from, to);
  }

  const CollectiveShape& shape_;
  const uint32_t me_;
  Group all_;
  Group here_;                  // of this host
  Group across_;                // with this rank's place on their hosts; empty unless even_
  std::vector<Group> by_host_;  // in the order of their first ranks
  bool even_ = true;            // all hosts have equally many ranks
  CollectivePlan plan_;
};

}  // namespace

Block PartOf(const Block& block, uint32_t index, size_t parts, uint64_t element_bytes) {
  const uint64_t unit = std::max(element_bytes, kLine);
  const uint64_t units = (block.bytes + unit - 1) / unit;
  const uint64_t each = (units + parts - 1) / parts * unit;
  const uint64_t begin = Least(index * each, block.bytes);
  return {block.offset + begin, Least(each, block.bytes - begin)};
}

CollectivePlan MakeCollectivePlan(const CollectiveShape& shape) { return Planner(shape).Make(); }

}  // namespace ropeway::comm
