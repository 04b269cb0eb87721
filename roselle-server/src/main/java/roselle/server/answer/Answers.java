package roselle.server.answer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.Prompt;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.api.Usage;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.EncoderInput;
import roselle.embedding.PendingTexts;
import roselle.embedding.TextResults;
import roselle.engine.Embedding;
import roselle.engine.Generation;
import roselle.server.config.LoadNews;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.pool.EnginePool;
import roselle.server.pool.Lease;
import roselle.server.pool.LoadListener;
import roselle.server.pool.ModelState;

/**
 * The way of every request to an engine: admitted first, then read by its dialect, then submitted.
 *
 * {@snippet :
 * try (var admitted = answers.admit(exchange)) {
 *     var call = reader.read(exchange.json());
 *     try (var answer = admitted.submit(call.model(), call.request())) {
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
    private final Set<AdmittedRequest> admittedRequests = ConcurrentHashMap.newKeySet();

    public Answers(Models models, Admission admission, Observer observer) {
        this.models = models;
        this.admission = admission;
        this.observer = observer;
    }

    /** The models, of which none is loaded by being named; {@link AdmittedRequest#models} has those that are. */
    public Models models() {
        return models;
    }

    /** Admits a request before its body is read. */
    public AdmittedRequest admit(Exchange exchange) {
        var admitted = new AdmittedRequest(exchange, ticket(exchange));
        admittedRequests.add(admitted);
        return admitted;
    }

    private Admission.Ticket ticket(Exchange exchange) {
        return exchange.note(Admission.BROUGHT)
                .map(Admission.Ticket.class::cast)
                .orElseGet(() -> admission.admit(exchange));
    }

    /** Breaks off what is being answered, as an error that says that the server is ending. */
    public void breakOff() {
        admittedRequests.forEach(AdmittedRequest::breakOff);
    }

    /** A request that was let in, until it is answered. */
    public final class AdmittedRequest implements AutoCloseable {
        private final Exchange exchange;
        private final Admission.Ticket ticket;
        private final Queue<Runnable> cancellations = new ConcurrentLinkedQueue<>();
        private final Map<String, Lease<Served>> leases = new HashMap<>(); // the request's own thread alone has them
        private final Runnable leaving = this::leave; // one object, which is forgotten at the end
        private volatile boolean isBrokenOff;
        private volatile boolean isGone;
        private boolean outlivesExchange;
        private boolean streams;

        private AdmittedRequest(Exchange exchange, Admission.Ticket ticket) {
            this.exchange = exchange;
            this.ticket = ticket;
            exchange.whenGone(leaving);
        }

        /** The models as this request sees them: one that it names is loaded, if it is not, and stays so until it is answered. */
        public Models models() {
            return models.loadedBy(this::load);
        }

        /** Its answer is the exchange's stream, if {@code isSo}: while it waits for a model, the stream says how far that is. */
        public void streaming(boolean isSo) {
            streams = isSo;
        }

        private Served load(EnginePool pool, String name) {
            return leases.computeIfAbsent(name, wanted -> lease(pool, wanted)).model();
        }

        private Lease<Served> lease(EnginePool pool, String name) {
            LoadNews news = pool.news();
            return streams
                    ? pool.models()
                            .use(name, this::cancelledBy, new LoadListener(news.after(), news.every(), this::tell))
                    : pool.models().use(name, this::cancelledBy);
        }

        private void tell(ModelState state) {
            try {
                exchange.stream().comment(state.word() + " " + state.name() + " " + state.percent() + " %");
            } catch (IOException gone) {
                throw new UncheckedIOException(gone);
            }
        }

        /** How long the models that this request has named stay loaded after it; negative: until their memory is needed. */
        public void keepAlive(Duration time) {
            leases.values().forEach(lease -> lease.keepAlive(time));
        }

        /** Brings a request to a model's engine; the generation ends at the latest when the peer goes. */
        public Answer submit(ServedModel model, GenerationRequest request) {
            OptionalInt context = model.defaults().context();
            boolean isBounded = model.defaults()
                    .maxTokens()
                    .equals(OptionalInt.of(request.stop().maxTokens()));
            return isBounded || context.isPresent() ? submitWithinContext(model, request) : begin(model, request);
        }

        private Answer begin(ServedModel model, GenerationRequest request) {
            GenerationRequest own = withKey(request).withAdapter(model.adapter());
            try {
                return answer(model, own, model.engine().submit(own));
            } catch (InvalidRequestException tooLong) {
                payForRefusal(model, tooLong);
                throw tooLong;
            }
        }

        /** The same for as many tokens as the context has left, where the number that is asked for does not fit. */
        public Answer submitWithinContext(ServedModel model, GenerationRequest request) {
            return submitWithin(model.context(), "num_ctx", model, request);
        }

        private Answer beginWithinContext(ServedModel model, GenerationRequest request) {
            GenerationRequest own = withKey(request).withAdapter(model.adapter());
            try {
                return answer(model, own, model.engine().submit(own));
            } catch (InvalidRequestException tooLong) {
                if (tooLong.reason() != InvalidRequestException.Reason.CONTEXT_LENGTH) {
                    throw tooLong;
                }
                return begin(model, withRestOfContext(request));
            }
        }

        /**
         * The same where prompt and answer may have fewer tokens together than the model's context.
         *
         * @param field that says how many, for the refusal of a longer prompt
         */
        public Answer submitWithin(int context, String field, ServedModel model, GenerationRequest request) {
            return context >= model.engine().context()
                    ? beginWithinContext(model, request)
                    : begin(model, shortened(context, field, model, request));
        }

        private GenerationRequest shortened(int context, String field, ServedModel model, GenerationRequest request) {
            int prompt = model.engine().tokenize(request.prompt(), ticket.group()).length;
            if (prompt >= context) {
                ticket.spend(new Usage(prompt, 0, 0, 0, 0, 0, 0));
                throw new ApiException(
                        ErrorKind.CONTEXT_LENGTH,
                        field,
                        "the prompt has " + prompt + " tokens, but " + field + " is " + context
                                + " with at least one generated: shorten it");
            }
            return withMaxTokens(request, Math.min(request.stop().maxTokens(), context - prompt));
        }

        private static GenerationRequest withRestOfContext(GenerationRequest request) {
            return withMaxTokens(request, StopConditions.REST_OF_CONTEXT);
        }

        private static GenerationRequest withMaxTokens(GenerationRequest request, int most) {
            var stop = request.stop();
            return request.with(new StopConditions(
                    most, stop.minTokens(), stop.stopStrings(), stop.stopTokenIds(), stop.ignoreEos()));
        }

        private Answer answer(ServedModel model, GenerationRequest own, Generation generation) {
            cancelledBy(generation::close);
            var listener = observer.accepted(exchange, model, own, generation.promptTokens());
            return new Answer(generation, listener, ticket, () -> isBrokenOff);
        }

        /** Brings a text whose vector is wanted to a model's engine; it is cancelled at the latest when the peer goes. */
        public Embedding embed(ServedModel model, Prompt text, SchedulingOptions scheduling) {
            Embedding embedding;
            try {
                embedding = model.engine().embed(text, withKey(scheduling), model.adapter());
            } catch (InvalidRequestException tooLong) {
                payForRefusal(model, tooLong);
                throw tooLong;
            }
            cancelledBy(embedding::close);
            ticket.spend(new Usage(embedding.tokens(), 0, 0, 0, 0, 0, 0));
            return embedding;
        }

        /**
         * Brings texts to an encoder, as {@code reading} has them, and waits for what they give; they are taken back at the latest
         * when the peer goes.
         */
        public TextResults encode(
                ServedEncoder model, EmbeddingOptions options, Function<EmbeddingEngine, List<EncoderInput>> reading) {
            try (PendingTexts pending = model.engine().submit(reading.apply(model.engine()), options, ticket.group())) {
                cancelledBy(pending::close);
                ticket.spend(new Usage(pending.tokens(), 0, 0, 0, 0, 0, 0));
                return pending.await();
            } catch (InvalidRequestException tooLong) {
                payForRefusal(model, tooLong);
                throw tooLong;
            }
        }

        /** The ids of a prompt, which are paid for as if they had been read. */
        public int[] tokenize(ServedModel model, Prompt prompt) {
            int[] ids = model.engine().tokenize(prompt, ticket.group());
            ticket.spend(new Usage(ids.length, 0, 0, 0, 0, 0, 0));
            return ids;
        }

        /** The text of ids, which are paid for likewise. */
        public String detokenize(ServedModel model, int[] ids) {
            ticket.spend(new Usage(ids.length, 0, 0, 0, 0, 0, 0));
            return model.engine().detokenize(ids, ticket.group());
        }

        /** What was too long has been encoded up to a full context. */
        private void payForRefusal(Served model, InvalidRequestException refusal) {
            if (refusal.reason() == InvalidRequestException.Reason.CONTEXT_LENGTH) {
                ticket.spend(new Usage(model.context(), 0, 0, 0, 0, 0, 0));
            }
        }

        /** Whose request it is; empty for nobody's. */
        public String key() {
            return ticket.key();
        }

        /** Whose share of the engine it takes. */
        public String group() {
            return ticket.group();
        }

        /**
         * Goes on when its exchange has been answered, and when the peer goes: {@link #close} does nothing from now on, and who goes on
         * calls {@link #end}.
         */
        public void outliveExchange() {
            exchange.unwatch(leaving);
            outlivesExchange = true;
        }

        /** Cancels what it has in engines, as if the peer had gone; for any thread. */
        public void cancel() {
            leave();
        }

        private void cancelledBy(Runnable cancellation) {
            cancellations.add(cancellation);
            if (isBrokenOff || isGone) {
                cancellation.run();
            }
        }

        private void leave() {
            isGone = true;
            cancellations.forEach(Runnable::run);
        }

        private void breakOff() {
            isBrokenOff = true;
            cancellations.forEach(Runnable::run);
        }

        private GenerationRequest withKey(GenerationRequest request) {
            return request.with(withKey(request.scheduling()));
        }

        private SchedulingOptions withKey(SchedulingOptions asked) {
            return asked.withPriority(ticket.priority(asked.priority()))
                    .withKey(ticket.group())
                    .withFirstTokenWithin(ticket.firstTokenWithin());
        }

        @Override
        public void close() {
            if (!outlivesExchange) {
                end();
            }
        }

        /** Gives back the place in the server, and the models that it holds. */
        public void end() {
            admittedRequests.remove(this);
            exchange.unwatch(leaving); // there may be more of the exchange than this
            leases.values().forEach(Lease::close);
            ticket.close();
        }
    }
}
