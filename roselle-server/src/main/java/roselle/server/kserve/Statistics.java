package roselle.server.kserve;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import roselle.server.answer.ListedModel;
import roselle.server.config.ServedModel;
import roselle.server.grpc.ProtoWriter;
import roselle.server.http.JsonWriter;

/** How many requests of this API each model has answered, and how long they took; thread-safe. */
final class Statistics {
    /** Of Triton's, those that take no time of their own here. */
    private static final List<String> NOTHING = List.of("compute_input", "compute_output", "cache_hit", "cache_miss");

    private final Map<String, Counts> counts = new ConcurrentHashMap<>();

    /** Sums of one model. */
    private static final class Counts {
        private long lastMillis;
        private long succeeded;
        private long failed;
        private long succeededNanos;
        private long failedNanos;
        private long queueNanos;

        synchronized void add(boolean isSuccess, long nanos, long waitedNanos) {
            lastMillis = System.currentTimeMillis();
            if (isSuccess) {
                succeeded++;
                succeededNanos += nanos;
                queueNanos += waitedNanos;
            } else {
                failed++;
                failedNanos += nanos;
            }
        }

        synchronized void write(JsonWriter json) {
            json.field("last_inference", lastMillis)
                    .field("inference_count", succeeded)
                    .field("execution_count", succeeded)
                    .object("inference_stats");
            write(json, "success", succeeded, succeededNanos);
            write(json, "fail", failed, failedNanos);
            write(json, "queue", succeeded, queueNanos);
            write(json, "compute_infer", succeeded, succeededNanos - queueNanos);
            NOTHING.forEach(name -> write(json, name, 0, 0));
            json.endObject().array("batch_stats").endArray();
        }

        /** The fields of Triton's {@code ModelStatistics} behind its name and version. */
        synchronized ProtoWriter write(ProtoWriter message) {
            var durations = new ProtoWriter()
                    .message(1, duration(succeeded, succeededNanos))
                    .message(2, duration(failed, failedNanos))
                    .message(3, duration(succeeded, queueNanos))
                    .message(4, duration(0, 0))
                    .message(5, duration(succeeded, succeededNanos - queueNanos))
                    .message(6, duration(0, 0))
                    .message(7, duration(0, 0))
                    .message(8, duration(0, 0));
            return message.number(3, lastMillis)
                    .number(4, succeeded)
                    .number(5, succeeded)
                    .message(6, durations);
        }

        private static ProtoWriter duration(long count, long nanos) {
            return new ProtoWriter().number(1, count).number(2, nanos);
        }

        private static void write(JsonWriter json, String name, long count, long nanos) {
            json.object(name).field("count", count).field("ns", nanos).endObject();
        }
    }

    /**
     * A request that is being answered; it has failed unless it says otherwise before it is closed. That is said before an answer
     * leaves that comes as a whole, so that whoever has it finds it counted.
     */
    static final class Timed implements AutoCloseable {
        private final Counts counts;
        private final long begin = System.nanoTime();
        private boolean isCounted;

        private Timed(Counts counts) {
            this.counts = counts;
        }

        void succeeded(long waitedNanos) {
            count(true, waitedNanos);
        }

        private void count(boolean isSuccess, long waitedNanos) {
            if (!isCounted) {
                isCounted = true;
                counts.add(isSuccess, System.nanoTime() - begin, waitedNanos);
            }
        }

        @Override
        public void close() {
            count(false, 0);
        }
    }

    Timed begin(ServedModel model) {
        return new Timed(of(model.name()));
    }

    private Counts of(String model) {
        return counts.computeIfAbsent(model, _ -> new Counts());
    }

    JsonWriter write(List<ListedModel> models) {
        var json = new JsonWriter().object().array("model_stats");
        for (ListedModel model : models) {
            json.object().field("name", model.name()).field("version", ModelPath.VERSION);
            of(model.name()).write(json);
            json.endObject();
        }
        return json.endArray().endObject();
    }

    /** The same as Triton's {@code ModelStatisticsResponse}. */
    ProtoWriter message(List<ListedModel> models) {
        var all = new ProtoWriter();
        for (ListedModel model : models) {
            var told = new ProtoWriter().text(1, model.name()).text(2, ModelPath.VERSION);
            all.message(1, of(model.name()).write(told));
        }
        return all;
    }
}
