package roselle.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.answer.Models;
import roselle.server.config.MetricOptions;
import roselle.server.config.ServedModel;

/** What a scrape costs: prints the processor time of each of some rounds; to be looked at, so by hand. */
@Tag("manual")
final class ScrapeTimeTest {
    private static final int ROUNDS = 8;
    private static final int SCRAPES = 400;

    @Test
    void aScrapeTakesLessThanAMillisecond() throws IOException {
        Path model = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
        try (var engine = Engine.open(EngineConfig.of(model).with(new DeviceOptions("cpu", 1)))) {
            var metrics = new Metrics(
                    new Models(List.of(new ServedModel("demo", engine))),
                    new MetricOptions(List.of("roselle", "vllm")));
            var threads = ManagementFactory.getThreadMXBean();
            double least = Double.POSITIVE_INFINITY;
            for (int round = 0; round < ROUNDS; round++) {
                long before = threads.getCurrentThreadCpuTime();
                int length = 0;
                for (int scrape = 0; scrape < SCRAPES; scrape++) {
                    length = metrics.scraped().length;
                }
                double millis = (threads.getCurrentThreadCpuTime() - before) / 1e6 / SCRAPES;
                System.out.printf("round %d: %.3f ms of processor time a scrape of %d bytes%n", round, millis, length);
                least = Math.min(least, millis);
            }
            assertThat(least).isLessThan(1);
        }
    }
}
