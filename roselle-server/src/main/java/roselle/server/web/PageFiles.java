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
            + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String INDEX = "index.html";
    private static final List<String> NAMES = List.of(
            INDEX,
            "icon.svg",
            "style.css",
            "api.js",
            "app.js",
            "branches.js",
            "chat.js",
            "dashboard.js",
            "elements.js",
            "markdown.js",
            "sharing.js",
            "store.js");
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "svg", "image/svg+xml",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8");

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
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (content == null || type == null) {
            throw new ApiException(ErrorKind.NOT_FOUND, "the page has no such file");
        }
        exchange.header("content-security-policy", POLICY);
        exchange.header("x-content-type-options", "nosniff");
        exchange.header("referrer-policy", "no-referrer");
        exchange.header("cache-control", "no-cache");
        exchange.send(200, type, content);
    }
}
