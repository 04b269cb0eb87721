package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.KeyRights;
import roselle.server.config.ServerConfig;

/** What one API key learns of another: nothing, unless an operator says so. */
final class KeyIsolationTest {
    private static final String ALICE = ApiKey.random();
    private static final String BOB = ApiKey.random();
    private static final String CAROL = ApiKey.random();
    private static final String TEXT = "Once upon a time there was a fox who lived in the deep dark wood. ".repeat(6);

    private static ApiKey key(String name, String secret, String group) {
        return new ApiKey(name, ApiKey.sha256(secret), KeyLimits.DEFAULT, new KeyRights(group, false));
    }

    private static ServerConfig config() {
        return ServerConfig.DEFAULT.with(AccessOptions.DEFAULT.withKeys(
                List.of(key("alice", ALICE, ""), key("bob", BOB, ""), key("carol", CAROL, "alice"))));
    }

    @Test
    void aKeyIsToldNothingOfWhatAnotherHasAsked() {
        try (var demo = new DemoServer(config())) {
            assertThat(cachedTokens(demo, ALICE, "")).isZero();
            assertThat(cachedTokens(demo, ALICE, "")).as("its own").isPositive();
            assertThat(cachedTokens(demo, BOB, "")).as("another's").isZero();
            assertThat(cachedTokens(demo, CAROL, "")).as("of its group").isPositive();
        }
    }

    @Test
    void anEqualSaltSharesNothingBetweenKeys() {
        try (var demo = new DemoServer(config())) {
            assertThat(cachedTokens(demo, ALICE, ",\"cache_salt\":\"s\"")).isZero();
            assertThat(cachedTokens(demo, BOB, ",\"cache_salt\":\"s\"")).isZero();
            assertThat(cachedTokens(demo, ALICE, ",\"cache_salt\":\"s\"")).isPositive();
        }
    }

    @Test
    void anOperatorMayLetAllKeysShare() {
        var engine = EngineConfig.of(DemoServer.demo());
        var shared = engine.with(engine.cache().sharedAcrossKeys(true));
        try (var demo = new DemoServer(config(), Engine.open(shared))) {
            assertThat(cachedTokens(demo, ALICE, "")).isZero();
            assertThat(cachedTokens(demo, BOB, "")).isPositive();
        }
    }

    private static int cachedTokens(DemoServer demo, String secret, String more) {
        var request = demo.request("/v1/completions", "{\"prompt\":\"" + TEXT + "\",\"max_tokens\":1" + more + "}")
                .header("authorization", "Bearer " + secret)
                .build();
        return DemoServer.json(demo.send(request).body())
                .at("/usage/prompt_tokens_details/cached_tokens")
                .asInt(-1);
    }
}
