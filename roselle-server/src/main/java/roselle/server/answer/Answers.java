package roselle.server.answer;

import roselle.api.GenerationRequest;
import roselle.api.SchedulingOptions;
import roselle.server.config.ServedModel;
import roselle.server.http.Exchange;

/**
 * The way of every request to an engine: admitted first, then read by its dialect, then submitted.
 *
 * {@snippet :
 * try (var visit = answers.admit(exchange)) {
 *     var call = reader.read(exchange.json());
 *     try (var answer = visit.submit(call.model(), call.request())) {
 *         while (answer.hasNext()) {
 *             …
 *         }
 *     }
 * }
 * }
 */
public final class Answers {
    private final Models models;
    private final Admission admission;
    private final Observer observer;

    public Answers(Models models, Admission admission, Observer observer) {
        this.models = models;
        this.admission = admission;
        this.observer = observer;
    }

    public Models models() {
        return models;
    }

    /** Admits a request before its body is read. */
    public Visit admit(Exchange exchange) {
        return new Visit(exchange, admission.admit(exchange));
    }

    /** An admitted request. */
    public final class Visit implements AutoCloseable {
        private final Exchange exchange;
        private final Admission.Ticket ticket;

        private Visit(Exchange exchange, Admission.Ticket ticket) {
            this.exchange = exchange;
            this.ticket = ticket;
        }

        /** Brings a request to a model's engine; the generation ends at the latest when the peer goes. */
        public Answer submit(ServedModel model, GenerationRequest request) {
            GenerationRequest own = withKey(request);
            var generation = model.engine().submit(own);
            exchange.whenGone(generation::close);
            var listener = observer.accepted(exchange, model, own, generation.promptTokens());
            return new Answer(generation, listener, ticket);
        }

        private GenerationRequest withKey(GenerationRequest request) {
            if (ticket.key().isEmpty()) {
                return request;
            }
            SchedulingOptions asked = request.scheduling();
            return new GenerationRequest(
                    request.prompt(),
                    request.sampling(),
                    request.stop(),
                    request.output(),
                    new SchedulingOptions(asked.priority(), ticket.key(), asked.cacheSalt(), asked.deadline()));
        }

        @Override
        public void close() {
            ticket.close();
        }
    }
}
