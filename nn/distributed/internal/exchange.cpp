#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/nn/distributed/internal/exchange.hpp>

#include <algorithm>
#include <numeric>
#include <sstream>

namespace ktape::nn::distributed {
namespace {

template <class From, class To>
void copy_scaled(std::int64_t n, const From* from, double by, To* to) {
  using Real = std::conditional_t<std::is_same_v<From, double> || std::is_same_v<To, double>, double, float>;
  parallel_for(n, 1 << 15, [=, by = static_cast<Real>(by)](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(static_cast<Real>(from[i]) * by);
  });
}

/// Copies the elements times `by`. Writes zeros for a weight of 0, so that NaN does not spread.
void copy_scaled(const Tensor& from, double by, DType dtype, void* to) {
  dispatch_floating(dtype, [&]<class To>() {
    if (by == 0) return void(std::fill_n(static_cast<To*>(to), from.size(), To(0)));
    dispatch_floating(from.dtype(), [&]<class From>() {
      copy_scaled(from.size(), from.pointer<From>(), by, static_cast<To*>(to));
    });
  });
}

std::string line_of(const Variable& variable) {
  std::ostringstream line;
  line << '\'' << variable.name() << "' of " << variable.dtype() << " and shape " << variable.shape();
  return line.str();
}

/// Returns whether each gradient has the dtype and shape of its variable.
bool fit(const std::vector<RowGradient>& gradients, const std::vector<Variable>& variables) {
  if (gradients.size() != variables.size()) return false;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const auto& [value, rows] = gradients[i];
    if (value.defined() && (value.dtype() != variables[i].dtype() || !variables[i].dtype().is_floating() ||
                            (!rows.defined() && value.shape() != variables[i].shape())))
      return false;
  }
  return true;
}

}  // namespace

// --- Buckets ----------------------------------------------------------------------------------------------

void Bucket::add(std::size_t variable, std::int64_t size) {
  parts_.push_back({variable, elements_, size});
  elements_ += size;
}

const Bucket::Part& Bucket::part_of(std::size_t variable) const {
  return *std::find_if(parts_.begin(), parts_.end(),
                       [&](const Part& part) { return part.variable == variable; });
}

void Bucket::close(bool shared_memory) {
  const std::int64_t n = elements_ + std::ssize(parts_);
  if (shared_memory) sums_ = shared_sums(world_, dtype_, n);
  if (!sums_) sums_ = message_sums(world_, dtype_, n);
}

void Bucket::put(std::size_t variable, const Tensor& gradient, double weight) {
  if (filled_ == 0) own_ = static_cast<char*>(sums_->own());
  const Part& part = part_of(variable);
  char* const to = own_ + static_cast<std::size_t>(part.begin) * dtype_.size();
  if (gradient.defined()) copy_scaled(gradient, weight, dtype_, to);
  else std::fill_n(to, static_cast<std::size_t>(part.size) * dtype_.size(), 0);
  dispatch_floating(dtype_, [&]<class T>() {
    reinterpret_cast<T*>(own_)[elements_ + (&part - parts_.data())] = T(gradient.defined() ? 1.f : 0.f);
  });
  ++filled_;
}

void Bucket::send() {
  world_.depart(bytes());
  sums_->send();
  under_way_ = true;
}

bool Bucket::poll() {
  if (!under_way_) return true;
  if (!sums_->poll()) return false;
  under_way_ = false;
  world_.arrive();
  return true;
}

void Bucket::wait() {
  world_.wait_until([&] { return poll(); });
}

Tensor Bucket::take(std::size_t variable, const Variable& like) {
  const Part& part = part_of(variable);
  float processes = 0;
  sums_->take(elements_ + (&part - parts_.data()), 1, DType::Float32, &processes);
  if (processes == 0) return Tensor();
  const Tensor out = Tensor::empty(like.shape(), like.dtype());
  sums_->take(part.begin, part.size, out.dtype(), out.raw());
  return out;
}

void Bucket::empty() {
  filled_ = 0;
  sums_->release();
}

// --- Plans ------------------------------------------------------------------------------------------------

void Plan::put(std::size_t variable, const Tensor& gradient, double weight) {
  buckets[*bucket_of[variable]].put(variable, gradient, weight);
  for (; sent < buckets.size() && buckets[sent].full(); ++sent) buckets[sent].send();
}

void Plan::poll() {
  for (std::size_t i = 0; i < sent; ++i) buckets[i].poll();
}

void Plan::wait() {
  for (std::size_t i = 0; i < sent; ++i) buckets[i].wait();
}

void Plan::empty() {
  for (Bucket& bucket : buckets) bucket.empty();
  sent = 0;
}

Plan* Exchange::find_plan(const std::vector<Variable>& variables) {
  for (const auto& plan : plans_)
    if (std::equal(variables.begin(), variables.end(), plan->variables.begin(), plan->variables.end(),
                   [](const Variable& a, const Variable& b) { return a.is(b); }))
      return plan.get();
  return nullptr;
}

/// Makes the plan in the order in which gradients became ready in rank 0, because all processes must send in
/// one order. Other gradients come last, in the reverse order of the variables, which is about the order of
/// the backward pass.
Plan& Exchange::make_plan(const std::vector<Variable>& variables, const std::vector<std::size_t>& order,
                          const std::vector<RowGradient>& gradients) {
  std::vector<std::string> lines;
  for (const Variable& variable : variables) lines.push_back(line_of(variable));
  world_.expect_same("Optimizer", lines);

  std::vector<std::int64_t> places(order.begin(), order.end());
  for (auto i = std::ssize(variables) - 1; i >= 0; --i)
    if (std::find(places.begin(), places.end(), i) == places.end()) places.push_back(i);
  for (const std::int64_t i : std::vector(places))
    places.push_back(gradients[static_cast<std::size_t>(i)].of_rows());
  world_.broadcast(places.data(), std::ssize(places) * std::int64_t{sizeof(std::int64_t)}, 0);

  // Small models are divided, too, so that some messages are sent during the backward pass.
  constexpr std::int64_t least = 256 * 1024, parts = 4;
  std::int64_t all = 0;
  for (const Variable& variable : variables)
    all += variable.size() * static_cast<std::int64_t>(variable.dtype().size());
  const std::int64_t most = std::min(options_.bucket_bytes, std::max(all / parts, least));

  Plan& plan = *plans_.emplace_back(std::make_unique<Plan>());
  plan.variables = variables;
  plan.bucket_of.resize(variables.size());
  for (std::size_t place = 0; place < variables.size(); ++place) {
    const auto i = static_cast<std::size_t>(places[place]);
    if (places[variables.size() + place]) continue;
    const DType dtype = options_.float16 ? DType(DType::Float16) : variables[i].dtype();
    const std::int64_t bytes = variables[i].size() * static_cast<std::int64_t>(dtype.size());
    if (plan.buckets.empty() || plan.buckets.back().dtype() != dtype ||
        plan.buckets.back().bytes() + bytes > most)
      plan.buckets.emplace_back(world_, dtype);
    plan.buckets.back().add(i, variables[i].size());
    plan.bucket_of[i] = plan.buckets.size() - 1;
  }
  for (Bucket& bucket : plan.buckets) bucket.close(options_.shared_memory);
  return plan;
}

// --- Means ------------------------------------------------------------------------------------------------

std::vector<RowGradient> Exchange::mean_gradients(const Tensor& loss,
                                                  const std::vector<Variable>& variables) {
  Plan* plan = find_plan(variables);
  if (plan) plan->wait(), plan->empty();  // discards the remains of a step that threw
  std::vector<std::size_t> ready;
  const auto send = [&](std::size_t i, const Tensor& gradient) {
    ready.push_back(i);
    if (!plan) return;
    if (plan->bucket_of[i]) plan->put(i, gradient, weight());
    plan->poll();
  };
  std::vector<RowGradient> gradients = row_gradients(loss, variables, send);
  if (plan) return finish(*plan, std::move(gradients), ready);
  plan = &make_plan(variables, ready, gradients);
  return finish(*plan, std::move(gradients), {});
}

std::vector<RowGradient> Exchange::mean(std::vector<RowGradient> gradients,
                                        const std::vector<Variable>& variables) {
  if (!fit(gradients, variables)) return gradients;  // the optimizer throws for them
  Plan* plan = find_plan(variables);
  if (!plan) plan = &make_plan(variables, {}, gradients);
  return finish(*plan, std::move(gradients), {});
}

std::vector<RowGradient> Exchange::finish(Plan& plan, std::vector<RowGradient> gradients,
                                          const std::vector<std::size_t>& sent) {
  std::vector<bool> left(gradients.size(), true);
  for (const std::size_t i : sent) left[i] = false;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (left[i] && plan.bucket_of[i]) plan.put(i, gradients[i].whole(plan.variables[i].shape()), weight());
  const auto began = World::Clock::now();
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (!plan.bucket_of[i]) gradients[i] = mean_rows(gradients[i], plan.variables[i]);
  plan.wait();
  world_.traffic.waited += std::chrono::duration<double>(World::Clock::now() - began).count();
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (plan.bucket_of[i]) gradients[i] = {plan.buckets[*plan.bucket_of[i]].take(i, plan.variables[i]), {}};
  plan.empty();
  return gradients;
}

/// Returns the mean of a table's gradients: as the rows of all processes, or as a whole table if a process
/// has a whole gradient.
RowGradient Exchange::mean_rows(const RowGradient& gradient, const Variable& table) {
  constexpr std::int64_t none = -2, whole = -1;
  const std::int64_t own = !gradient.value.defined() ? none
                           : gradient.of_rows()      ? gradient.rows.size()
                                                     : whole;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(size()));
  MPI_Request request;
  world_.check(
      MPI_Iallgather(&own, 1, MPI_INT64_T, rows.data(), 1, MPI_INT64_T, world_.gradients(), &request));
  world_.wait(request);
  const DType dtype = options_.float16 ? DType(DType::Float16) : table.dtype();
  if (std::all_of(rows.begin(), rows.end(), [](std::int64_t n) { return n == none; })) return {};
  if (std::any_of(rows.begin(), rows.end(), [](std::int64_t n) { return n == whole; })) {
    Bucket bucket(world_, dtype);
    bucket.add(0, table.size());
    bucket.close(false);
    bucket.put(0, gradient.whole(table.shape()), weight());
    bucket.send();
    bucket.wait();
    return {bucket.take(0, table), {}};
  }
  for (std::int64_t& n : rows) n = std::max<std::int64_t>(n, 0);
  return gathered_rows(gradient, table, dtype, rows);
}

RowGradient Exchange::gathered_rows(const RowGradient& gradient, const Variable& table, DType dtype,
                                    const std::vector<std::int64_t>& rows) {
  const std::int64_t width = table.shape().count(1),
                     all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  Shape shape = table.shape();
  shape[0] = gradient.of_rows() ? gradient.rows.size() : 0;
  const Tensor sent = Tensor::empty(shape, dtype);
  if (shape[0] > 0) copy_scaled(gradient.value, weight(), dtype, sent.raw());
  shape[0] = all;
  LookupGradient lookup{0, Tensor::empty({all}, DType::Int64), Tensor::empty(shape, dtype)};

  const void* const numbers = gradient.of_rows() ? gradient.rows.raw() : nullptr;
  world_.depart(sent.size() * static_cast<std::int64_t>(dtype.size()));
  gather(numbers, rows, 1, DType::Int64, lookup.rows.raw());
  gather(sent.raw(), rows, width, dtype, lookup.values.raw());
  world_.arrive();
  if (dtype != table.dtype()) {
    const Tensor values = Tensor::empty(shape, table.dtype());
    convert(values.raw(), values.dtype(), lookup.values.raw(), dtype, values.size());
    lookup.values = values;
  }
  return sum_of({lookup}, table, Tensor());
}

/// Gathers rows[i] rows from process i, for all i, into one array in the order of ranks.
void Exchange::gather(const void* own, const std::vector<std::int64_t>& rows, std::int64_t width, DType dtype,
                      void* all) {
  std::vector<int> counts, begins;
  std::int64_t begin = 0;
  for (const std::int64_t n : rows) {
    counts.push_back(wire_count(n * width));
    begins.push_back(wire_count(begin * width));
    begin += n;
  }
  const MPI_Datatype type = wire_of(dtype).type;
  MPI_Request request;
  world_.check(MPI_Iallgatherv(own, counts[static_cast<std::size_t>(rank())], type, all, counts.data(),
                               begins.data(), type, world_.gradients(), &request));
  world_.wait(request);
}

// --- Other data of a training -----------------------------------------------------------------------------

void Exchange::sum(std::span<double> numbers) {
  MPI_Request request;
  world_.check(MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), wire_count(std::ssize(numbers)), MPI_DOUBLE,
                              MPI_SUM, world_.tensors(), &request));
  world_.wait(request);
}

/// Sends the names, dtypes and shapes of the entries, then their elements.
void Exchange::broadcast(std::vector<Archive::Entry>& entries, int from) {
  std::ostringstream described;
  for (const auto& [name, value] : entries) {
    described << name.size() << ' ' << name << ' ' << value.dtype().name() << ' ' << value.ndim();
    for (const std::int64_t extent : value.shape()) described << ' ' << extent;
    described << '\n';
  }
  std::istringstream described_there(world_.text_of(from, described.str()));
  if (rank() != from) entries.clear();
  for (std::size_t i = 0, length; described_there >> length; ++i) {
    std::string name(length, '\0'), dtype;
    described_there.get();
    described_there.read(name.data(), static_cast<std::streamsize>(length));
    int axes = 0;
    described_there >> dtype >> axes;
    Shape shape(std::vector<std::int64_t>(static_cast<std::size_t>(axes), 0));
    for (int axis = 0; axis < axes; ++axis) described_there >> shape[axis];
    if (rank() != from) entries.emplace_back(name, Tensor::empty(shape, DType(dtype)));
    const Tensor& value = entries[i].second;
    world_.broadcast(value.raw(), value.size() * static_cast<std::int64_t>(value.dtype().size()), from);
  }
}

// --- The optimizer ----------------------------------------------------------------------------------------

Optimizer::Optimizer(const nn::Optimizer& optimizer, const OptimizerOptions& options)
    : nn::Optimizer(optimizer) {
  if (!optimizer.defined()) fail("[Optimizer] the optimizer must be given: received None");
  if (options.bucket_bytes < 1)
    fail("[Optimizer] bucket_bytes must be at least 1: received bucket_bytes=", options.bucket_bytes);
  if (World* world = World::instance()) impl().set_process_group(std::make_shared<Exchange>(*world, options));
}

}  // namespace ktape::nn::distributed
