package roselle.server.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A headless Chromium, driven by chromedriver through the W3C's WebDriver protocol. */
final class Browser implements AutoCloseable {
    static final String ENTER = "\uE007";
    static final String ESCAPE = "\uE00C";
    static final String ALT = "\uE00A";
    static final String SHIFT = "\uE008";
    static final String TAB = "\uE004";
    static final String LEFT = "\uE012";
    static final String UP = "\uE013";
    static final String RELEASE = "\uE000";

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(Long.getLong("page.patience", 120));
    private static final String READY = "was started successfully on port ";

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process driver;
    private final String root;

    /** Starts with an empty profile below {@code profile}. */
    Browser(Path profile) {
        Path program = TestPrograms.find("chromedriver");
        TestPrograms.find("chromium");
        try {
            driver = new ProcessBuilder(program.toString(), "--port=0")
                    .redirectErrorStream(true)
                    .start();
            String session = "http://127.0.0.1:" + port() + "/session";
            var options = Map.of("args", arguments(profile));
            long millis = PATIENCE.toMillis(); // a script has 30 seconds by itself, less than a busy machine may take
            var wanted = Map.of(
                    "goog:chromeOptions",
                    options,
                    "goog:loggingPrefs",
                    Map.of("browser", "ALL"),
                    "timeouts",
                    Map.of("script", millis, "pageLoad", millis));
            JsonNode answer = call("POST", session, Map.of("capabilities", Map.of("alwaysMatch", wanted)));
            root = session + "/" + answer.path("sessionId").stringValue();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private int port() throws IOException {
        var lines = new BufferedReader(new InputStreamReader(driver.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int at = line.indexOf(READY);
            if (at >= 0) {
                return Integer.parseInt(
                        line.substring(at + READY.length()).replace(".", "").strip());
            }
        }
        throw new IOException("chromedriver ended before it listened");
    }

    private static List<String> arguments(Path profile) {
        return List.of(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage", // which a container may have little of
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--window-size=1100,800",
                "--user-data-dir=" + profile);
    }

    private JsonNode call(String method, String uri, Object body) {
        var publisher = method.equals("GET") || method.equals("DELETE")
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(MAPPER.writeValueAsString(body));
        var request = HttpRequest.newBuilder(URI.create(uri))
                .method(method, publisher)
                .timeout(PATIENCE.multipliedBy(2))
                .build();
        try {
            var response = client.send(request, HttpResponse.BodyHandlers.ofString());
            JsonNode value = MAPPER.readTree(response.body()).path("value");
            if (response.statusCode() != 200) {
                throw new IllegalStateException(
                        method + " " + uri + ": " + value.path("message").asString(""));
            }
            return value;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    private JsonNode post(String path, Object body) {
        return call("POST", root + path, body);
    }

    void open(URI page) {
        post("/url", Map.of("url", page.toString()));
    }

    /** Shows an empty page: what the one before still asks is broken off. */
    void leave() {
        open(URI.create("about:blank"));
    }

    void reload() {
        post("/refresh", Map.of());
    }

    /** What a function body returns, with {@code arguments} for its parameters. */
    JsonNode script(String body, Object... arguments) {
        return post("/execute/sync", Map.of("script", body, "args", List.of(arguments)));
    }

    /** The same for a promise. */
    JsonNode await(String expression, Object... arguments) {
        String body =
                "const done = arguments[arguments.length - 1]; (" + expression + ").then(done, e => done(String(e)));";
        return post("/execute/async", Map.of("script", body, "args", List.of(arguments)));
    }

    /** Waits until what the page says fits. */
    JsonNode until(String body, Predicate<JsonNode> fits) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        JsonNode value = script(body);
        while (!fits.test(value)) {
            if (System.nanoTime() > end) {
                throw new AssertionError("after " + PATIENCE + ", " + body + " is still " + value + "; the page: "
                        + script("return document.body.innerText"));
            }
            value = script(body);
        }
        return value;
    }

    void untilTrue(String condition) {
        until("return Boolean(" + condition + ")", JsonNode::asBoolean);
    }

    /** The text of the first element that a selector finds, as a reader sees it. */
    String text(String selector) {
        return script("return document.querySelector(arguments[0]).innerText", selector)
                .stringValue();
    }

    int count(String selector) {
        return script("return document.querySelectorAll(arguments[0]).length", selector)
                .intValue();
    }

    private String find(String using, String value) {
        JsonNode element = post("/element", Map.of("using", using, "value", value));
        return element.iterator().next().stringValue();
    }

    void click(String selector) {
        act("css selector", selector, "/click", Map.of());
    }

    /** Does something with an element; where the page has drawn it anew meanwhile, with the new one. */
    private void act(String using, String value, String action, Object body) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                post("/element/" + find(using, value) + action, body);
                return;
            } catch (IllegalStateException failure) {
                boolean isGone = String.valueOf(failure.getMessage()).contains("stale element reference");
                if (!isGone || System.nanoTime() > end) {
                    throw failure;
                }
            }
        }
    }

    /** Clicks the button that says this. */
    void clickButton(String label) {
        act("xpath", "(//button[normalize-space()='" + label + "'])[last()]", "/click", Map.of());
    }

    /** Types into an element. */
    void type(String selector, String keys) {
        act("css selector", selector, "/value", Map.of("text", keys));
    }

    /** Presses keys wherever the focus is. */
    void press(String... keys) {
        List<Object> actions = new ArrayList<>();
        for (String key : keys) {
            actions.add(Map.of("type", "keyDown", "value", key));
        }
        for (String key : List.of(keys).reversed()) {
            actions.add(Map.of("type", "keyUp", "value", key));
        }
        post("/actions", Map.of("actions", List.of(Map.of("type", "key", "id", "keys", "actions", actions))));
    }

    void resize(int width, int height) {
        // A headless window is not narrower than 500 pixels; the emulated device is.
        var metrics = Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false);
        devTools("Emulation.setDeviceMetricsOverride", metrics);
    }

    /** What a command of Chromium's DevTools answers. */
    JsonNode devTools(String command, Map<String, ?> parameters) {
        return post("/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
    }

    /** A picture of what is on screen, as PNG. */
    byte[] screenshot() {
        return Base64.getDecoder()
                .decode(call("GET", root + "/screenshot", Map.of()).stringValue());
    }

    /** What the browser wrote to its console since the last call: errors of scripts, refused loads. */
    List<String> console() {
        List<String> messages = new ArrayList<>();
        post("/se/log", Map.of("type", "browser"))
                .forEach(entry -> messages.add(entry.path("message").stringValue()));
        return messages;
    }

    @Override
    public void close() {
        call("DELETE", root, Map.of());
        driver.destroy();
        client.close();
    }
}
