package roselle.langchain4j;

import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;
import java.util.Set;
import roselle.engine.Engine;

/** What both kinds of chat models have: an engine, perhaps their own, and what is said of each request. */
record ServedModel(
        Engine engine,
        boolean ownsEngine,
        ChatRequests requests,
        ChatRequestParameters defaults,
        List<ChatModelListener> listeners) {
    static final Set<Capability> CAPABILITIES = Set.of(Capability.RESPONSE_FORMAT_JSON_SCHEMA);

    ServedModel {
        listeners = List.copyOf(listeners);
        requests.requireKnown(defaults);
    }

    ServedModel borrowed() {
        return new ServedModel(engine, false, requests, defaults, listeners);
    }

    void close() {
        if (ownsEngine) {
            engine.close();
        }
    }
}
