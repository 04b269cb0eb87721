package roselle.server.config;

/**
 * What a server is started with; every component has defaults.
 *
 * @param listen where to listen
 * @param limits what one request and one connection may take
 * @param drain how the server ends
 */
public record ServerConfig(ListenOptions listen, LimitOptions limits, DrainOptions drain) {
    /** Loopback, port 8000. */
    public static final ServerConfig DEFAULT =
            new ServerConfig(ListenOptions.DEFAULT, LimitOptions.DEFAULT, DrainOptions.DEFAULT);

    public ServerConfig with(ListenOptions value) {
        return new ServerConfig(value, limits, drain);
    }

    public ServerConfig with(LimitOptions value) {
        return new ServerConfig(listen, value, drain);
    }

    public ServerConfig with(DrainOptions value) {
        return new ServerConfig(listen, limits, value);
    }
}
