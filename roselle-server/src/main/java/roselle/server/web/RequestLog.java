package roselle.server.web;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import roselle.api.GenerationRequest;
import roselle.server.answer.Observer;
import roselle.server.config.ServedModel;
import roselle.server.http.Exchange;

/** The latest requests and what they took, for the dashboard; a bounded memory that nothing but the dashboard reads. */
public final class RequestLog implements Observer {
    private static final int KEPT_REQUESTS = 32;
    private static final int KEPT_FIRST = 1024;
    private static final int KEPT_GAPS = 8192;

    private final Deque<LoggedRequest> latest = new ArrayDeque<>();
    private final Samples firstTokens = new Samples(KEPT_FIRST);
    private final Samples gaps = new Samples(KEPT_GAPS);
    private final LongAdder requests = new LongAdder();
    private final LongAdder failures = new LongAdder();

    @Override
    public Listener accepted(Exchange exchange, ServedModel model, GenerationRequest request, int prompt) {
        var logged = new LoggedRequest(this, exchange.id(), model.name(), prompt);
        requests.increment();
        synchronized (latest) {
            latest.addFirst(logged);
            if (latest.size() > KEPT_REQUESTS) {
                latest.removeLast();
            }
        }
        return logged;
    }

    void firstToken(long nanos) {
        firstTokens.add(nanos);
    }

    void nextToken(long nanos) {
        gaps.add(nanos);
    }

    void failure() {
        failures.increment();
    }

    /** The latest requests, the newest first. */
    List<LoggedRequest> latest() {
        synchronized (latest) {
            return Collections.unmodifiableList(new ArrayList<>(latest));
        }
    }

    Samples firstTokens() {
        return firstTokens;
    }

    Samples gaps() {
        return gaps;
    }

    long requests() {
        return requests.sum();
    }

    long failures() {
        return failures.sum();
    }
}
