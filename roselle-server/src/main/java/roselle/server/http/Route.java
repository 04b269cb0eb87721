package roselle.server.http;

import java.util.Map;

/**
 * What answers a path.
 *
 * @param conventions how it speaks; of a path that two dialects share, the one that added it first
 * @param methods by their names; none where nothing is at the path
 * @param rest where in the path begins what follows the folder that the route was added for
 * @param tail how many characters at the path's end are no part of that
 */
record Route(Conventions conventions, Map<String, Method> methods, int rest, int tail) {
    /** What answers a method, and how its dialect speaks. */
    record Method(Conventions conventions, Handler handler) {}

    /** The same as requests with a method see it: its own dialect speaks. */
    Route as(String name) {
        Method method = methods.get(name);
        return method == null ? this : new Route(method.conventions(), methods, rest, tail);
    }
}
