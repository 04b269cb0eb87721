package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;
import roselle.server.Server;
import roselle.server.config.AccessOptions;
import roselle.server.config.ApiKey;
import roselle.server.config.KeyLimits;
import roselle.server.config.KeyRights;
import roselle.server.config.ListenOptions;
import roselle.server.config.PoolOptions;
import roselle.server.config.PooledModel;
import roselle.server.config.ServerConfig;

/** {@code roselle ps}, {@code load} and {@code stop} with a server that runs. */
final class PsCommandTest {
    @TempDir
    private Path folder;

    private static String run(Object command, String... arguments) {
        var out = new StringWriter();
        int status = new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setExecutionExceptionHandler((failure, _, _) -> {
                    out.append(failure.getMessage());
                    return 1;
                })
                .execute(arguments);
        return status + " " + out;
    }

    @Test
    void tellsWhereModelsStandAndMovesThem() throws IOException {
        var model = PooledModel.of("demo", EngineConfig.of(BundledModel.DEMO.unpackInto(folder)));
        Path key = Files.writeString(folder.resolve("key"), "secret\n");
        var access = AccessOptions.DEFAULT.withKeys(
                List.of(new ApiKey("operator", ApiKey.sha256("secret"), KeyLimits.DEFAULT, new KeyRights("", true))));
        var config =
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)).with(access);
        try (var server = Server.start(config, new PoolOptions(List.of(model), 0, Duration.ofMinutes(2)))) {
            String at = "--server=" + server.uri();
            String with = "--key-file=" + key;

            assertThat(run(new PsCommand(), at, with))
                    .startsWith("0 NAME")
                    .contains("demo")
                    .contains("unloaded");
            assertThat(run(new LoadCommand(), "demo", at, with)).startsWith("0 demo is loaded");
            assertThat(run(new PsCommand(), at, with))
                    .contains(" loaded ")
                    .contains("MB")
                    .contains(" in use of ");
            assertThat(run(new PsCommand(), "--json", at, with)).contains("\"state\":\"loaded\"");
            assertThat(run(new StopCommand(), "demo", at, with)).startsWith("0 demo is unloading");
            assertThat(run(new LoadCommand(), "other", at, with))
                    .startsWith("1 ")
                    .contains("there is no model other");
            assertThat(run(new PsCommand(), at)).startsWith("1 ").contains("refused");
        }
    }

    @Test
    void saysWhereNoServerIs() {
        assertThat(run(new PsCommand(), "--server=http://127.0.0.1:1")).contains("there is no server at");
        assertThat(run(new PsCommand(), "--server=ftp://127.0.0.1")).contains("it must begin with http://");
    }
}
