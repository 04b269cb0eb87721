package roselle.server.config;

import roselle.api.InvalidRequestException;

/**
 * Where the server tells which pages of tokens its engines can find, for gateways that send a request to whoever has computed
 * its beginning.
 *
 * @param endpoint where subscribers connect to, as in {@code tcp://*:5557}; empty to tell nobody
 * @param replay where they ask for events that they missed, as in {@code tcp://*:5558}; empty for nowhere
 * @param server what gateways know this server by, as in {@code 10.0.0.7:8000}; empty for the address it listens at
 */
public record PageEventOptions(String endpoint, String replay, String server) {
    public static final PageEventOptions NONE = new PageEventOptions("", "", "");

    public PageEventOptions {
        requireEndpoint("kv events", endpoint);
        requireEndpoint("kv events replay", replay);
        if (endpoint.isEmpty() && !(replay + server).isEmpty()) {
            throw new InvalidRequestException("kv events is not set: without it there is nothing to replay or to name");
        }
        if (server.contains("@")) {
            throw new InvalidRequestException("kv events name is " + server + ": it must have no @");
        }
    }

    private static void requireEndpoint(String field, String endpoint) {
        boolean isOne = endpoint.startsWith("tcp://") || endpoint.startsWith("ipc://");
        if (!endpoint.isEmpty() && !isOne) {
            throw new InvalidRequestException(
                    field + " is " + endpoint + ": it must be an endpoint such as tcp://*:5557");
        }
    }

    public boolean isOn() {
        return !endpoint.isEmpty();
    }
}
