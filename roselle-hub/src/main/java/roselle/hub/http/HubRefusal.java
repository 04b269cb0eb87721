package roselle.hub.http;

import java.io.InputStream;
import java.net.http.HttpResponse;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.text.SafeText;

/**
 * What it means that the hub refuses, in one sentence.
 *
 * <p>The hub answers 401 also for what does not exist, lest strangers learn what is private; {@code X-Error-Code} tells more.
 */
record HubRefusal(String subject, HubConfig config, HttpResponse<InputStream> response) {
    HubException exception() {
        return switch (response.statusCode()) {
            case 401 -> new HubException(HubException.Kind.NOT_AUTHORISED, unauthorised());
            case 403 ->
                new HubException(
                        HubException.Kind.NOT_AUTHORISED,
                        subject + ": the hub forbids it (403" + reason() + "): accept its terms at " + config.endpoint()
                                + ", and use a token that may read it");
            case 404, 410 -> new HubException(HubException.Kind.NOT_FOUND, subject + " is not on the hub" + missing());
            default ->
                new HubException(
                        HubException.Kind.BAD_DATA,
                        subject + ": the hub answers " + response.statusCode() + reason() + ", not the data");
        };
    }

    private String unauthorised() {
        String advice = config.token().isPresent()
                ? "check the name, and whether the token may read it"
                : "check the name; if it is private or needs its terms accepted, set HF_TOKEN";
        return subject + ": the hub does not show it (401" + reason() + "): " + advice;
    }

    private String missing() {
        return switch (response.headers().firstValue("X-Error-Code").orElse("")) {
            case "RevisionNotFound" -> ": the repository has no such revision";
            case "EntryNotFound" -> ": the repository has no such file";
            case "RepoNotFound" -> ": there is no such repository, or it is private";
            default -> " at " + config.endpoint() + reason();
        };
    }

    private String reason() {
        return response.headers()
                .firstValue("X-Error-Message")
                .map(message -> ", " + SafeText.of(message))
                .orElse("");
    }
}
