package roselle.server.config;

import java.util.Map;
import roselle.api.InvalidRequestException;

/**
 * What is believed of a gateway in front: its headers give a request its place among others, so they are read only where clients
 * reach the server through it alone.
 *
 * @param isTrusted whether they are read
 * @param objectives the priority of requests, −1000 to 1000, by the objective that the gateway names; of others it is 0
 */
public record GatewayTrust(boolean isTrusted, Map<String, Integer> objectives) {
    private static final int MAX_PRIORITY = 1000;

    public static final GatewayTrust NONE = new GatewayTrust(false, Map.of());

    public GatewayTrust {
        objectives = Map.copyOf(objectives);
        if (!isTrusted && !objectives.isEmpty()) {
            throw new InvalidRequestException(
                    "objectives are named by a gateway's headers, which are not read: give --trust-gateway");
        }
        objectives.forEach(GatewayTrust::require);
    }

    private static void require(String name, int priority) {
        if (name.isBlank() || Math.abs((long) priority) > MAX_PRIORITY) {
            throw new InvalidRequestException("the objective '" + name + "' has the priority " + priority
                    + ": it must have a name, and a priority between -1000 and 1000");
        }
    }
}
