package roselle.server;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import roselle.server.answer.Admission;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.answer.Observer;
import roselle.server.batch.BatchFile;
import roselle.server.config.AdapterOptions;
import roselle.server.config.LimitOptions;
import roselle.server.config.ServedModel;
import roselle.server.http.InnerRequests;
import roselle.server.http.Routes;
import roselle.server.openai.OpenAiDialect;
import roselle.server.responses.ResponsesDialect;

/** Answers a file of requests in OpenAI's batch format with a model, as a server would, without one. */
public final class OfflineBatch {
    private static final Duration BETWEEN_REPORTS = Duration.ofSeconds(5);

    private OfflineBatch() {}

    /** Hears every few seconds, and at the end, how many requests were answered, and how many failed. */
    public interface Progress {
        void told(int total, int succeeded, int failed);
    }

    /**
     * Answers all requests of {@code input} into {@code output}, in their order; what an earlier call that did not end has answered
     * stays.
     *
     * @param atATime requests that are answered at a time
     * @throws roselle.api.InvalidRequestException if the output is there, or a line is no request
     */
    public static void run(ServedModel model, Path input, Path output, int atATime, Progress progress)
            throws IOException, InterruptedException {
        var answers = new Answers(new Models(List.of(model)), Admission.OPEN, Observer.NONE);
        var routes = new Routes(Server.STANDARD)
                .add(new OpenAiDialect(answers, AdapterOptions.NONE))
                .add(new ResponsesDialect(answers));
        int longest = (int) LimitOptions.DEFAULT.bodyBytes();
        new BatchFile(new InnerRequests(routes, longest), longest, input, output)
                .run(model.name(), atATime, BETWEEN_REPORTS, progress::told);
    }
}
