package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import roselle.server.http.JsonWriter;
import tools.jackson.databind.json.JsonMapper;

final class LoggedRequestTest {
    @Test
    void tellsWhenItBeganOfAServerThatHasBeenUpForDays() {
        long up = TimeUnit.DAYS.toMillis(100);
        long origin = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(up);
        var request = new LoggedRequest(new RequestLog(), "req_1", "demo", 3);
        request.closed();
        var json = new JsonWriter();

        request.write(json, origin);

        var told = new JsonMapper().readTree(json.toBytes());
        assertThat(told.at("/begin_millis").doubleValue()).isGreaterThanOrEqualTo((double) up);
        assertThat(told.at("/end_millis").doubleValue())
                .isGreaterThanOrEqualTo(told.at("/begin_millis").doubleValue());
        assertThat(told.at("/state").stringValue()).isEqualTo("cancelled");
    }
}
