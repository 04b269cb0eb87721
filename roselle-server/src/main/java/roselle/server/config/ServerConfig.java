package roselle.server.config;

import roselle.api.InvalidRequestException;

/**
 * What a server is started with; every component has defaults.
 *
 * @param listen where to listen
 * @param limits what one request and one connection may take
 * @param access who may ask
 * @param drain how the server ends
 * @param watch when its engines count as stuck
 * @param dialects which APIs it answers
 * @param adapters where adapters may be loaded from
 * @param log whether requests are told in lines
 * @param metrics how what it measures is called
 * @param batches where files and batches are kept
 * @param events where it is told which pages the engines can find
 * @param tools what the page offers to models and calls
 */
public record ServerConfig(
        ListenOptions listen,
        LimitOptions limits,
        AccessOptions access,
        DrainOptions drain,
        WatchOptions watch,
        DialectOptions dialects,
        AdapterOptions adapters,
        LogOptions log,
        MetricOptions metrics,
        BatchFolder batches,
        PageEventOptions events,
        PageTools tools) {
    /** Loopback, port 8000. */
    public static final ServerConfig DEFAULT = new ServerConfig(
            ListenOptions.DEFAULT,
            LimitOptions.DEFAULT,
            AccessOptions.DEFAULT,
            DrainOptions.DEFAULT,
            WatchOptions.DEFAULT,
            DialectOptions.DEFAULT,
            AdapterOptions.NONE,
            LogOptions.NONE,
            MetricOptions.DEFAULT,
            BatchFolder.NONE,
            PageEventOptions.NONE,
            PageTools.NONE);

    /** Without tools on the page. */
    public ServerConfig(
            ListenOptions listen,
            LimitOptions limits,
            AccessOptions access,
            DrainOptions drain,
            WatchOptions watch,
            DialectOptions dialects,
            AdapterOptions adapters,
            LogOptions log,
            MetricOptions metrics,
            BatchFolder batches,
            PageEventOptions events) {
        this(listen, limits, access, drain, watch, dialects, adapters, log, metrics, batches, events, PageTools.NONE);
    }

    public ServerConfig with(ListenOptions value) {
        return new ServerConfig(
                value, limits, access, drain, watch, dialects, adapters, log, metrics, batches, events, tools);
    }

    public ServerConfig with(LimitOptions value) {
        return new ServerConfig(
                listen, value, access, drain, watch, dialects, adapters, log, metrics, batches, events, tools);
    }

    public ServerConfig with(AccessOptions value) {
        return new ServerConfig(
                listen, limits, value, drain, watch, dialects, adapters, log, metrics, batches, events, tools);
    }

    public ServerConfig with(DrainOptions value) {
        return new ServerConfig(
                listen, limits, access, value, watch, dialects, adapters, log, metrics, batches, events, tools);
    }

    public ServerConfig with(WatchOptions value) {
        return new ServerConfig(
                listen, limits, access, drain, value, dialects, adapters, log, metrics, batches, events, tools);
    }

    public ServerConfig with(DialectOptions value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, value, adapters, log, metrics, batches, events, tools);
    }

    public ServerConfig with(AdapterOptions value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, dialects, value, log, metrics, batches, events, tools);
    }

    public ServerConfig with(LogOptions value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, dialects, adapters, value, metrics, batches, events, tools);
    }

    public ServerConfig with(MetricOptions value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, dialects, adapters, log, value, batches, events, tools);
    }

    public ServerConfig with(BatchFolder value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, dialects, adapters, log, metrics, value, events, tools);
    }

    public ServerConfig with(PageEventOptions value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, dialects, adapters, log, metrics, batches, value, tools);
    }

    public ServerConfig with(PageTools value) {
        return new ServerConfig(
                listen, limits, access, drain, watch, dialects, adapters, log, metrics, batches, events, value);
    }

    /**
     * This configuration, whose components agree with each other.
     *
     * @throws InvalidRequestException if other machines could reach a server that asks for no key
     */
    public ServerConfig checked() {
        if (access.keys().isEmpty() && !access.allowsAnyone() && !listen.isLoopback()) {
            throw new InvalidRequestException("host is " + listen.host()
                    + ", where other machines reach the server, and there are no API keys:"
                    + " give --api-keys, or --allow-anyone to serve without");
        }
        return this;
    }
}
