package roselle.server.http;

import java.util.Map;

/**
 * What answers a path.
 *
 * @param conventions how it speaks
 * @param methods by their names; none where nothing is at the path
 * @param rest where in the path begins what follows the folder that the route was added for
 */
record Route(Conventions conventions, Map<String, Handler> methods, int rest) {}
