package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.cuda.FakeDriver;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.FakeDriver.Fault;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.HookedEngine;
import roselle.engine.StartObserver;
import roselle.engine.WarmUp;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;
import roselle.tensor.DataType;

/** A server whose model has been through a request over HTTP before it was there. */
final class RehearsalTest {
    private static final EngineConfig WARM = EngineConfig.of(DemoServer.demo()).with(WarmUp.ON);

    @Test
    void leavesNothingThatClientsOrOperatorsSee() {
        var rehearsed = new AtomicLong();
        var engine = Engine.open(WARM, new StartObserver() {
            @Override
            public void warmsUp(Engine warming) {
                long begin = System.nanoTime();
                Server.rehearse(new ServedModel("demo", warming));
                rehearsed.set(System.nanoTime() - begin);
            }
        });
        try (var warm = new DemoServer(ServerConfig.DEFAULT, engine);
                var cold = new DemoServer()) {
            assertThat(rehearsed.get()).isPositive();
            assertThat(samples(warm)).isEqualTo(samples(cold));
            assertThat(warm.get("/dashboard/state").body()).doesNotContain("cmpl-");
            String answer = warm.post("/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1}")
                    .body();
            assertThat(DemoServer.json(answer)
                            .at("/usage/prompt_tokens_details/cached_tokens")
                            .asInt())
                    .isZero();
        }
    }

    /** What the metrics count, without what clocks and names are in it. */
    private static String samples(DemoServer server) {
        return server.get("/metrics")
                .body()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void asksThroughAllThatATrueRequestGoesThrough() {
        var tokens = new AtomicLong();
        var engine = Engine.open(WARM, new StartObserver() {
            @Override
            public void warmsUp(Engine warming) {
                tokens.set(Rehearsal.answerOf(new ServedModel("demo", warming))
                        .lines()
                        .filter(line -> line.startsWith("data: {"))
                        .count());
            }
        });
        engine.close();
        assertThat(tokens.get()).isPositive();
    }

    @Test
    void failsTheStartOfAModelWhoseDeviceFailsAtItsFirstStep() {
        var driver = new FakeDriver(Card.HOPPER);
        driver.failAfter("cuMemcpyDtoHAsync", 0, Fault.ILLEGAL_ADDRESS);
        assertThatThrownBy(() -> HookedEngine.open(WARM, driver.open(DataType.BF16)))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining(Fault.ILLEGAL_ADDRESS.name());
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void closesAConnectionWhoseClientWantedOneAnswer() throws IOException {
        try (var demo = new DemoServer();
                var connection = new PlainConnection(demo.server().port())) {
            connection.post(
                    "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1,\"stream\":true}", "Connection: close\r\n");

            assertThat(connection.read(1 << 20))
                    .startsWith("HTTP/1.1 200")
                    .contains("data: [DONE]"); // to the end of the stream
        }
    }
}
