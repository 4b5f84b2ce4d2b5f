#include "engine/cpu/communicator.hpp"

#include <cassert>
#include <cstring>
#include <utility>

namespace interlace::engine::cpu {

namespace {

[[noreturn]] void complain(const std::string& problem) {
  throw Error(kCollectiveOrder, "", problem, "all ranks must issue the same collectives in the same order");
}

// A part of a collective that knows its name and kind; all ranks' parts must have the same.
class NamedPost : public CpuPost {
 public:
  explicit NamedPost(std::string what) : what_(std::move(what)) {}
  [[nodiscard]] const std::string& what() const { return what_; }

 protected:
  template <class Kind>
  [[nodiscard]] static std::vector<Kind*> all_of_kind(std::span<CpuPost* const> posts) {
    std::vector<Kind*> parts;
    const std::string& expected = dynamic_cast<NamedPost&>(*posts.front()).what();
    for (CpuPost* post : posts) {
      auto* part = dynamic_cast<Kind*>(post);
      const std::string& what = dynamic_cast<NamedPost&>(*post).what();
      if (part == nullptr || what != expected) {
        complain("issues \"" + expected + "\" where rank " + std::to_string(parts.size()) + " issues \"" + what + "\"");
      }
      parts.push_back(part);
    }
    return parts;
  }

 private:
  std::string what_;
};

class AllToAllPost : public NamedPost {
 public:
  AllToAllPost(std::string what, const void* send, std::vector<CpuCommunicator::Part> sent, void* receive,
               std::vector<CpuCommunicator::Part> received)
      : NamedPost(std::move(what)),
        send_(static_cast<const std::byte*>(send)),
        sent_(std::move(sent)),
        receive_(static_cast<std::byte*>(receive)),
        received_(std::move(received)) {}

  void carry_out(std::span<CpuPost* const> posts) override {
    const std::vector<AllToAllPost*> ranks = all_of_kind<AllToAllPost>(posts);
    for (std::size_t to = 0; to < ranks.size(); ++to) {
      for (std::size_t from = 0; from < ranks.size(); ++from) {
        const CpuCommunicator::Part& out = ranks[from]->sent_[to];
        const CpuCommunicator::Part& in = ranks[to]->received_[from];
        if (out.bytes != in.bytes) {
          complain("\"" + what() + "\": rank " + std::to_string(from) + " sends " + std::to_string(out.bytes) +
                   " bytes, rank " + std::to_string(to) + " expects " + std::to_string(in.bytes));
        }
        if (in.bytes > 0) std::memcpy(ranks[to]->receive_ + in.begin, ranks[from]->send_ + out.begin, in.bytes);
      }
    }
  }

 private:
  const std::byte* send_;
  std::vector<CpuCommunicator::Part> sent_;
  std::byte* receive_;
  std::vector<CpuCommunicator::Part> received_;
};

class AllReduceMeanPost : public NamedPost {
 public:
  AllReduceMeanPost(std::string what, std::span<float> values) : NamedPost(std::move(what)), values_(values) {}

  void carry_out(std::span<CpuPost* const> posts) override {
    const std::vector<AllReduceMeanPost*> parts = all_of_kind<AllReduceMeanPost>(posts);
    for (const AllReduceMeanPost* part : parts) {
      if (part->values_.size() != values_.size()) complain("\"" + what() + "\": sizes differ");
    }
    const float share = 1.0F / static_cast<float>(parts.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      float sum = 0.0F;
      for (const AllReduceMeanPost* part : parts) sum += part->values_[i];
      for (AllReduceMeanPost* part : parts) part->values_[i] = sum * share;
    }
  }

 private:
  std::span<float> values_;
};

}  // namespace

CpuCommunicator::CpuCommunicator(CpuDevice& device, std::size_t group, int rank, int ranks)
    : Communicator(device, device.make_stream("collectives", 0), rank, ranks), device_(&device), group_(group) {
  device.join(group, stream());
}

void CpuCommunicator::queue_all_to_all(AllToAll exchange) {
  device_->post(group_, stream(),
                std::make_unique<AllToAllPost>(std::move(exchange.what), exchange.send, std::move(exchange.send_parts),
                                               exchange.receive, std::move(exchange.receive_parts)));
}

void CpuCommunicator::queue_all_reduce_mean(std::string what, std::span<float> values) {
  device_->post(group_, stream(), std::make_unique<AllReduceMeanPost>(std::move(what), values));
}

}  // namespace interlace::engine::cpu
