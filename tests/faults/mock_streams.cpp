// SPDX-License-Identifier: MIT
// The mock's streams, events, captures and graphs: enough of a model to tell whether a capture
// survives, and who owns what.
#include <utility>

#include "mock_state.hpp"

namespace tinyblas::mock {
namespace {

Stream* as_stream(cudaStream_t stream) { return reinterpret_cast<Stream*>(stream); }
Event* as_event(cudaEvent_t event) { return reinterpret_cast<Event*>(event); }
Graph* as_graph(cudaGraph_t graph) { return reinterpret_cast<Graph*>(graph); }
UserObject* as_object(cudaUserObject_t object) { return reinterpret_cast<UserObject*>(object); }

/// Ends all captures of global mode: they will be found to have failed.
cudaError_t invalidate_captures(cudaError_t error) {
    for (Stream* stream : state().streams)
        if (stream->captured) stream->invalidated = true;
    return error;
}

bool captures() {
    for (const Stream* stream : state().streams)
        if (stream->captured) return true;
    return false;
}

cudaError_t check_event(cudaEvent_t event) {
    return state().events.contains(as_event(event)) ? cudaSuccess : misuse("no such event");
}

cudaStreamCaptureStatus status_of(const Stream* stream) {
    if (!stream || !stream->captured) return cudaStreamCaptureStatusNone;
    return stream->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

/// Waits for a stream or an event: not while it is captured.
cudaError_t wait_for(cudaStream_t stream) {
    if (!stream)
        return captures() ? invalidate_captures(cudaErrorStreamCaptureImplicit) : cudaSuccess;
    if (!state().streams.contains(as_stream(stream))) return misuse("no such stream");
    return as_stream(stream)->captured ? invalidate_captures(cudaErrorStreamCaptureUnsupported)
                                       : cudaSuccess;
}

}  // namespace

cudaError_t unsafe_in_capture() {
    return captures() && state().thread_mode != cudaStreamCaptureModeRelaxed
               ? invalidate_captures(cudaErrorStreamCaptureUnsupported)
               : cudaSuccess;
}

Stream* stream_of(cudaStream_t stream, cudaError_t& error) {
    if (!stream) {
        if (captures()) error = invalidate_captures(cudaErrorStreamCaptureImplicit);
        return nullptr;
    }
    Stream* const found = as_stream(stream);
    if (!state().streams.contains(found)) {
        error = misuse("no such stream");
        return nullptr;
    }
    if (found->device != state().device)
        error = misuse("a stream of another device than the current one");
    if (found->invalidated) error = cudaErrorStreamCaptureInvalidated;
    if (found->captured) ++found->captured->nodes;
    return found;
}

void release_user_object(UserObject* object, unsigned references) {
    object->references -= references;
    if (object->references > 0) return;
    object->destroy(object->kept);
    state().user_objects.erase(object);
    delete object;
}

}  // namespace tinyblas::mock

using namespace tinyblas::mock;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    return entered("cudaStreamCreateWithFlags", [&] {
        auto* const made = new Stream{state().device};
        state().streams.insert(made);
        *stream = reinterpret_cast<cudaStream_t>(made);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return let_go("cudaStreamDestroy", [&] {
        if (state().streams.erase(as_stream(stream)) == 0) return misuse("no such stream");
        delete as_stream(stream);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return entered("cudaStreamSynchronize", [&] { return wait_for(stream); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    return entered("cudaStreamWaitEvent", [&] {
        cudaError_t error = check_event(event);
        if (stream) stream_of(stream, error);
        return error;
    });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    return entered("cudaEventCreateWithFlags", [&] {
        auto* const made = new Event{state().device};
        state().events.insert(made);
        *event = reinterpret_cast<cudaEvent_t>(made);
        return cudaSuccess;
    });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return let_go("cudaEventDestroy", [&] {
        if (state().events.erase(as_event(event)) == 0) return misuse("no such event");
        delete as_event(event);
        return cudaSuccess;
    });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return entered("cudaEventRecord", [&] {
        cudaError_t error = check_event(event);
        if (stream) stream_of(stream, error);
        return error;
    });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return entered("cudaEventSynchronize", [&] { return check_event(event); });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return let_go("cudaThreadExchangeStreamCaptureMode", [&] {
        std::swap(*mode, state().thread_mode);
        return cudaSuccess;
    });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return entered("cudaStreamBeginCapture", [&] {
        auto* const graph = new Graph;
        state().graphs.insert(graph);
        as_stream(stream)->captured = graph;
        as_stream(stream)->mode = mode;
        return cudaSuccess;
    });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    return entered("cudaStreamEndCapture", [&] {
        Stream& captured = *as_stream(stream);
        const bool failed = std::exchange(captured.invalidated, false);
        *graph = reinterpret_cast<cudaGraph_t>(std::exchange(captured.captured, nullptr));
        if (!failed) return cudaSuccess;
        cudaGraphDestroy(*graph);
        *graph = nullptr;
        return cudaErrorStreamCaptureInvalidated;
    });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return entered("cudaStreamIsCapturing", [&] {
        *status = status_of(as_stream(stream));
        return cudaSuccess;
    });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long*, cudaGraph_t* graph,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                     std::size_t*) {
    return entered("cudaStreamGetCaptureInfo", [&] {
        *status = status_of(as_stream(stream));
        *graph = reinterpret_cast<cudaGraph_t>(as_stream(stream)->captured);
        return cudaSuccess;
    });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return let_go("cudaGraphDestroy", [&] {
        for (UserObject* object : as_graph(graph)->kept) release_user_object(object, 1);
        state().graphs.erase(as_graph(graph));
        delete as_graph(graph);
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* kept, cudaHostFn_t destroy,
                                 unsigned references, unsigned) {
    return entered("cudaUserObjectCreate", [&] {
        auto* const made = new UserObject{kept, destroy, references};
        state().user_objects.insert(made);
        *object = reinterpret_cast<cudaUserObject_t>(made);
        return cudaSuccess;
    });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned references) {
    return let_go("cudaUserObjectRelease", [&] {
        release_user_object(as_object(object), references);
        return cudaSuccess;
    });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
    return entered("cudaGraphRetainUserObject", [&] {
        if (!graph) return misuse("no graph to keep an object with");
        if (flags != cudaGraphUserObjectMove) as_object(object)->references += count;
        as_graph(graph)->kept.push_back(as_object(object));
        return cudaSuccess;
    });
}
