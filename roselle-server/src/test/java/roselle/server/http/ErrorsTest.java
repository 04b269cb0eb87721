package roselle.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;

/** What callers are told of failures. */
final class ErrorsTest {
    @Test
    void whereFilesLieIsNotTold() {
        var failure = new DeviceException("the engine failed: /srv/models/a.gguf shrank from 7 to 5 bytes");
        assertThat(Errors.of(failure)).hasMessage("the engine failed: a.gguf shrank from 7 to 5 bytes");
        String others = "5 tokens/s at http://host/v1/models, 1/2 of it; cuda:0/1 and /x";
        assertThat(Errors.withoutFolders(others)).isEqualTo(others);
    }
}
