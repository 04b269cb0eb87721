package roselle.server.web;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;

/** The files of the page, read from the jar once; a path that is not in the list is not there. */
final class PageFiles {
    /** Scripts, styles and requests of this server alone: what a model writes can neither run nor call home. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String INDEX = "index.html";
    /** Libraries of others, as they are; their folders name their versions, so that a browser may keep what it has of them. */
    static final String VENDOR = "vendor/";

    static final List<String> NAMES = List.of(
            INDEX,
            "icon.svg",
            "style.css",
            "content.css",
            "api.js",
            "app.js",
            "attachments.js",
            "branches.js",
            "charts.js",
            "chat.js",
            "dashboard.js",
            "elements.js",
            "formulas.js",
            "highlighter.js",
            "highlighting.js",
            "markdown.js",
            "request.js",
            "sharing.js",
            "speed.js",
            "store.js",
            "tools.js",
            VENDOR + "highlight-11.12.0/highlight.min.js",
            VENDOR + "highlight-11.12.0/LICENSE",
            VENDOR + "temml-0.13.5/temml.min.js",
            VENDOR + "temml-0.13.5/Temml-Local.css",
            VENDOR + "temml-0.13.5/Temml.woff2",
            VENDOR + "temml-0.13.5/LICENSE");
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "svg", "image/svg+xml",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "woff2", "font/woff2");
    private static final String PLAIN = "text/plain; charset=utf-8";

    private final Map<String, byte[]> contents = new HashMap<>();

    PageFiles() {
        NAMES.forEach(name -> contents.put(name, read(name)));
    }

    private static byte[] read(String name) {
        try (var stream = PageFiles.class.getResourceAsStream(name)) {
            if (stream == null) {
                throw new IllegalStateException("the jar lacks the page's file " + name);
            }
            return stream.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    void index(Exchange exchange) {
        send(exchange, INDEX);
    }

    void file(Exchange exchange) {
        send(exchange, exchange.rest());
    }

    private void send(Exchange exchange, String name) {
        byte[] content = contents.get(name);
        if (content == null) {
            throw new ApiException(ErrorKind.NOT_FOUND, "the page has no such file");
        }
        exchange.header("content-security-policy", POLICY);
        exchange.header("x-content-type-options", "nosniff");
        exchange.header("referrer-policy", "no-referrer");
        exchange.header("cache-control", name.startsWith(VENDOR) ? "max-age=31536000, immutable" : "no-cache");
        exchange.send(200, TYPES.getOrDefault(ending(name), PLAIN), content);
    }

    private static String ending(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
