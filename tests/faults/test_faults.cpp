// SPDX-License-Identifier: MIT
// What happens when CUDA fails. Every public call is tried with call n of each function of CUDA
// that it uses failing, n = 1 until it gets through: an Error says so, nothing is lost, the context
// goes on working, and a capture in progress ends well. The library's own objects, linked with a
// mock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "cases.hpp"
#include "mock.hpp"

namespace tinyblas::faults {

namespace {
cudaStream_t make_stream() {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
}
}  // namespace

Bench::Bench()
    : stream(make_stream()),
      other(make_stream()),
      context(stream),
      memory(3, operand_elements),
      pageable(4000) {
    tinyblas_create(&c);
    tinyblas_set_stream(c, stream);
}
Bench::~Bench() {
    tinyblas_destroy(c);
    packed.reset();
    mock::fail_no_more();
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
}
void Bench::move(Context& moved) { moved.set_stream(moved.stream() == other ? stream : other); }

namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// What reductions deliver to the host: else it would wait for them in vain. What their blocks
/// count in must have been zero.
void deliver(const std::string& kernel, void** arguments) {
    if (kernel.find("reduce_") == std::string::npos) return;
    // How ReduceEnd of kernels/reduce/parts.cuh begins, their last parameter.
    struct End {
        void* element;
        std::uint64_t* host_words;
        std::uint32_t call;
        void* workspace;
    };
    const auto& end = *static_cast<const End*>(arguments[3]);
    EXPECT_TRUE(mock::was_zeroed(end.workspace)) << kernel;
    if (!end.host_words) return;
    ASSERT_TRUE(mock::is_mapped(end.host_words)) << kernel;
    for (int word = 0; word < 2; ++word) end.host_words[word] = std::uint64_t{end.call} << 32;
}

/// How a call is tried.
struct Setting {
    bool used;      // the context, by the same call before
    bool captured;  // the stream, by the caller
};
constexpr Setting settings[] = {{false, false}, {true, false}, {false, true}, {true, true}};

/// What fails without a word: it lets something go, and what it tells is of something earlier that
/// will be told again.
const std::set<std::string> quiet = {"cudaFree",
                                     "cudaFreeHost",
                                     "cudaStreamDestroy",
                                     "cudaEventDestroy",
                                     "cudaDestroyTextureObject",
                                     "cudaUserObjectRelease",
                                     "cudaThreadExchangeStreamCaptureMode"};

constexpr int context_device = 0, callers_device = 1;

/// Launches on three streams, so that which ones were busy before does not show in what follows.
void forget_streams() {
    Matrix<float> memory(3, 4);
    Context contexts[3];
    const auto line = [&](int i) { return memory.view().data + i * memory.view().row_stride; };
    for (Context& context : contexts)
        ger(context, 1.0f, VectorView<const float>{line(0), 1, 1},
            VectorView<const float>{line(1), 1, 1}, MatrixView<float>::row_major(line(2), 1, 1));
}

/// One bench, one call.
class Trial {
  public:
    Trial(const Case& one, Setting setting) : case_(one), setting_(setting) {
        cudaSetDevice(context_device);
        forget_streams();
        bench_.emplace();
        if (setting.used)
            run();
        else
            mock::forbid_large_shared();  // as a reset of the device does
        case_.prepare(*bench_);
        if (setting.captured) {
            EXPECT_EQ(cudaStreamBeginCapture(bench_->stream, cudaStreamCaptureModeGlobal),
                      cudaSuccess);
        }
        cudaSetDevice(callers_device);
        mock::forget();
    }

    /// Ends the capture, which must have survived.
    void end_capture() {
        if (!setting_.captured) return;
        cudaGraph_t graph = nullptr;
        EXPECT_EQ(cudaStreamEndCapture(bench_->stream, &graph), cudaSuccess)
            << "the capture was invalidated";
        if (graph) {
            EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
        }
    }

    /// The call; false if an Error came of it, which is kept.
    bool call() {
        try {
            case_.run(*bench_);
            return true;
        } catch (const Error& error) {
            status = error.status();
            sentence = error.what();
            return false;
        }
    }

    /// Another time without faults or capture: what it launches.
    std::vector<mock::Launch> run() {
        cudaSetDevice(context_device);
        case_.prepare(*bench_);
        mock::forget();
        EXPECT_TRUE(call()) << sentence;
        return mock::launches();
    }

    void clear() { bench_.reset(); }

    Status status = Status::success;
    std::string sentence;

  private:
    const Case& case_;
    Setting setting_;
    std::optional<Bench> bench_;
};

class Faults : public testing::Test {
  protected:
    Faults() {
        mock::reset();
        mock::set_stand_in(deliver);
        before_ = mock::census();
    }
    ~Faults() override { EXPECT_THAT(mock::misuses(), IsEmpty()); }

    void expect_nothing_left() const { EXPECT_EQ(mock::census(), before_); }

    /// Call number n of `function` fails; false if the call does not come to that.
    bool try_fault(const Case& one, Setting setting, const std::string& function, int n,
                   cudaError_t code, const std::vector<mock::Launch>& launches) {
        Trial trial(one, setting);
        mock::fail(function, n, code);
        const bool succeeded = trial.call();
        const bool met = mock::has_failed();
        mock::fail_no_more();
        int device = -1;
        cudaGetDevice(&device);
        if (succeeded) {
            // Only what lets something go may fail unseen, or the way back to the caller's device.
            EXPECT_TRUE(!met || one.lets_go || quiet.contains(function) ||
                        device == context_device);
            cudaGetLastError();
        } else {
            // Of the driver's function any failure is one of the device.
            const auto expected = code == cudaErrorMemoryAllocation && function.starts_with("cuda")
                                      ? Status::out_of_memory
                                      : Status::device_error;
            EXPECT_EQ(trial.status, expected) << trial.sentence;
            EXPECT_THAT(trial.sentence, StartsWith(one.operation));
            EXPECT_THAT(trial.sentence, HasSubstr(": " + function + ": "));
            EXPECT_EQ(device, callers_device);
            EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left for the caller to find";
        }
        trial.end_capture();
        EXPECT_EQ(trial.run(), launches) << "the context does not work as before";
        trial.clear();
        expect_nothing_left();
        return met;
    }

    /// Whether there is no such call, say of a rung for other types.
    static bool is_refused(const Case& one) {
        Trial trial(one, {});
        return !trial.call() && trial.status == Status::invalid_argument;
    }

    /// Every function that the call uses, every time it uses it. The number of failures.
    int try_all(const Case& one, Setting setting) {
        Trial clean(one, setting);
        const bool possible = clean.call();
        const auto functions = mock::calls();
        clean.end_capture();
        if (!possible) {  // such as a result on the host while the stream is captured
            EXPECT_EQ(clean.status, Status::invalid_argument) << clean.sentence;
            return 0;
        }
        const auto launches = clean.run();
        clean.clear();
        expect_nothing_left();
        int faults = 0;
        for (const auto& [function, count] : functions) {
            if (function == "cudaGetLastError") continue;  // itself it never fails
            for (const cudaError_t code : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress})
                for (int n = 1; n <= count; ++n) {
                    SCOPED_TRACE(testing::Message()
                                 << one.name << ", used " << setting.used << ", captured "
                                 << setting.captured << ": call " << n << " of " << function
                                 << " fails with " << cudaGetErrorName(code));
                    EXPECT_TRUE(try_fault(one, setting, function, n, code, launches));
                    ++faults;
                    if (HasFailure()) return faults;
                }
        }
        return faults;
    }

    void try_all(const std::vector<Case>& cases) {
        int faults = 0, calls = 0;
        for (const Case& one : cases) {
            if (is_refused(one)) {
                // A rung that cannot run it.
                EXPECT_THAT(one.name, AnyOf(StartsWith("gemm"), HasSubstr("compensated")));
                continue;
            }
            ++calls;
            for (const Setting& setting : settings) faults += try_all(one, setting);
        }
        std::cout << faults << " failures of CUDA in " << calls << " calls\n";
        EXPECT_GT(faults, 10 * calls);
    }

  private:
    mock::Census before_ = {};
};

// Its address is found once a process: before all other tests, or alone.
TEST_F(Faults, TheDriversFunctionIsNotFound) {
    Bench b;
    const auto call = [&] {
        gemm(b.context, 2.0f, b.matrix<const float>(0, 700, 690),
             b.matrix<const float>(1, 690, 680), 0.0f, b.matrix<float>(2, 700, 680));
    };
    mock::fail("cudaGetDriverEntryPointByVersion", 1, cudaErrorIllegalAddress);
    try {
        call();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), StartsWith("gemm: cudaGetDriverEntryPointByVersion: CUDA error"));
    }
    mock::fail_no_more();
    EXPECT_NO_THROW(call());
}

TEST_F(Faults, OfTheCInterface) { try_all(cases_c()); }
TEST_F(Faults, OfTheCppInterface) { try_all(cases_cpp()); }

/// The functions of CUDA's runtime among the symbols that nm says an object needs.
std::set<std::string> functions_of_cuda(const char* symbols) {
    std::ifstream file(symbols);
    std::set<std::string> names;
    for (std::string word; file >> word;)
        if (word.starts_with("cuda")) names.insert(word);
    return names;
}

// All that the library's objects need of CUDA's runtime is called, and so tried, by some case.
TEST_F(Faults, MeetEveryFunctionOfCuda) {
    std::set<std::string> met = {"cudaGetDriverEntryPointByVersion"};  // once a process, see above
    const auto meet = [&](const Case& one, Setting setting, const char* failing) {
        Trial trial(one, setting);
        mock::fail(failing, 1, cudaErrorIllegalAddress);
        trial.call();
        mock::fail_no_more();
        for (const auto& [function, count] : mock::calls()) met.insert(function);
        trial.end_capture();
    };
    for (const auto& cases : {cases_c(), cases_cpp()})
        for (const Case& one : cases)
            if (!is_refused(one))
                for (const Setting& setting : settings) meet(one, setting, "");
    // What only a failure leads to.
    for (const Case& one : cases_c())
        if (one.name == "tinyblas_sasum_device")
            meet(one, {false, true}, "cudaGraphRetainUserObject");
    met.erase("cuTensorMapEncodeTiled");  // the driver's
    const auto needed = functions_of_cuda(TINYBLAS_NEEDED_SYMBOLS);
    EXPECT_GT(needed.size(), 30u);
    EXPECT_EQ(met, needed);
}

TEST(FaultCases, HaveEveryFunctionOfTheCInterface) {
    std::ifstream file(TINYBLAS_C_HEADER);
    const std::string header{std::istreambuf_iterator<char>(file), {}};
    std::set<std::string> declared, tried;
    const std::regex declaration(R"(TINYBLAS_API[^;(]*\b(tinyblas_\w+)\()");
    for (std::sregex_iterator it(header.begin(), header.end(), declaration), end; it != end; ++it)
        declared.insert((*it)[1]);
    for (const Case& one : cases_c()) tried.insert(one.name);
    EXPECT_GT(declared.size(), 40u);
    EXPECT_EQ(tried, declared);
}

/// Both ways to make a context fail alike.
void expect_no_context(Status status, const std::string& words) {
    try {
        Context();
        ADD_FAILURE() << "there is a context";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), status);
        EXPECT_THAT(error.what(), StartsWith("context: "));
        EXPECT_THAT(error.what(), HasSubstr(words));
    }
    int nothing = 0;
    auto context = reinterpret_cast<tinyblas_context>(&nothing);
    EXPECT_EQ(tinyblas_create(&context), static_cast<tinyblas_status>(status));
    EXPECT_EQ(context, nullptr);
    EXPECT_THAT(tinyblas_last_error(), StartsWith("tinyblas_create: context: "));
    EXPECT_THAT(tinyblas_last_error(), HasSubstr(words));
}

TEST_F(Faults, NoDriverNoContext) {
    for (const cudaError_t code : {cudaErrorInsufficientDriver, cudaErrorNoDevice}) {
        mock::fail("cudaGetDevice", 0, code);
        expect_no_context(Status::no_device, std::string("cudaGetDevice: CUDA error ") +
                                                 std::to_string(code) + " (" +
                                                 cudaGetErrorName(code) + ")");
    }
    expect_nothing_left();
}

TEST_F(Faults, TooOldADeviceNoContext) {
    mock::set_compute_capability(75);
    expect_no_context(Status::unsupported_device,
                      "device 0 has compute capability 7.5: must be at least 8.0");
    expect_nothing_left();
    mock::set_compute_capability(80);
    EXPECT_NO_THROW(Context());
}

// A kernel that never delivers: an error, no endless wait.
TEST_F(Faults, NoResultComesToTheHost) {
    Bench b;
    mock::set_stand_in({});
    try {
        asum(b.context, b.vector<const float>(0, 100));
        ADD_FAILURE() << "there is a result";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::device_error);
        EXPECT_STREQ(error.what(), "asum: the device delivered no result");
    }
    mock::set_stand_in(deliver);
    EXPECT_EQ(asum(b.context, b.vector<const float>(0, 100)), 0);
}

// Blocks that start early keep others of their kernel off a multiprocessor, by the shared memory
// that they ask for, but not where streams take turns: they would keep off the others'.
TEST_F(Faults, BlocksAreSpreadWhereFewStreamsAreBusy) {
    constexpr std::size_t half = (228 << 10) / 2 - 2048;  // of a multiprocessor's shared memory
    constexpr int many = 100;
    Bench b;
    const auto third = make_stream();
    const auto asks_for = [&](std::initializer_list<cudaStream_t> streams) {
        std::size_t bytes = 0;
        for (int call = 0; call < many; ++call)
            for (const cudaStream_t stream : streams) {
                b.context.set_stream(stream);
                mock::forget();
                gemv(b.context, 1.0f, b.matrix<const float>(0, 64, 64),
                     b.vector<const float>(1, 64), 0.0f, b.vector<float>(2, 64));
                bytes = mock::launches().at(0).large_shared;
            }
        return bytes;
    };
    EXPECT_GT(asks_for({b.stream}), half);
    EXPECT_GT(asks_for({b.stream, b.other}), half);
    EXPECT_EQ(asks_for({b.stream, b.other, third}), 0u);
    EXPECT_GT(asks_for({third}), half) << "again";
    b.context.set_stream(b.stream);
    cudaStreamDestroy(third);
}

}  // namespace
}  // namespace tinyblas::faults
