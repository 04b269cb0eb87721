package roselle.server.responses;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.api.GenerationEvent;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.http.Errors;
import roselle.server.http.JsonWriter;

/**
 * Responses that are made while nobody waits, each on a virtual thread: the store tells how far they are, and they end with the
 * server at the latest. Thread-safe.
 */
final class BackgroundResponses {
    private final ResponseStore store;
    private final Map<String, Running> running = new HashMap<>(); // by id

    /** One that is being made; its body is guarded by the object around. */
    private record Running(AdmittedRequest request, Answer answer, ResponseBody body) {}

    BackgroundResponses(ResponseStore store) {
        this.store = store;
    }

    /** Takes over a request whose answer has been asked for, and returns what is told of it now. */
    JsonWriter begin(AdmittedRequest request, Answer answer, ResponseBody body) {
        var begun = new Running(request, answer, body);
        var queued = new JsonWriter();
        body.write(queued);
        synchronized (this) {
            running.put(body.id(), begun);
            keep(begun);
        }
        request.outliveExchange();
        Thread.ofVirtual().name(body.id()).start(() -> run(begun));
        return queued;
    }

    private void run(Running begun) {
        try (Answer answer = begun.answer) {
            while (answer.hasNext()) {
                if (!take(begun, answer.next())) {
                    return;
                }
            }
            end(begun, null);
        } catch (RuntimeException failure) { // its caller has gone, and is told by the body
            end(begun, Errors.of(failure).getMessage());
        } finally {
            begun.request.end();
        }
    }

    /** Returns whether it still runs. */
    private synchronized boolean take(Running begun, GenerationEvent event) {
        if (!running.containsKey(begun.body.id())) {
            return false;
        }
        if (begun.body.isQueued()) {
            begun.body.start();
            keep(begun);
        }
        ResponsesHandler.take(event, begun.body);
        return true;
    }

    private synchronized void end(Running begun, @Nullable String failure) {
        if (running.remove(begun.body.id()) == null) {
            return; // it was cancelled
        }
        if (failure != null) {
            begun.body.fail(failure);
        }
        keep(begun);
    }

    private void keep(Running begun) {
        store.keep(begun.body.id(), ResponseStore.Kept.of(begun.request.key(), begun.body));
    }

    /** Cancels a response, if it is being made. */
    synchronized void cancel(String id) {
        Running begun = running.remove(id);
        if (begun != null) {
            begun.body.cancel();
            keep(begun);
            begun.request.cancel();
        }
    }
}
