package roselle.cli.serve;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import roselle.cli.option.HubModels;
import roselle.hub.Hub;
import roselle.hub.PullPlan;
import roselle.hub.request.HubConfig;
import roselle.hub.request.HubException;
import roselle.hub.request.HubName;
import roselle.hub.request.PullObserver;
import roselle.server.config.ModelSupply;

/** Models of the Hugging Face hub, in the cache that is shared with Python. */
final class HubSupply implements ModelSupply {
    private final HubConfig config;

    HubSupply(HubConfig config) {
        this.config = config;
    }

    @Override
    public Path fetch(String name, Consumer<Progress> hearing) {
        HubName model = HubName.parse(name);
        try {
            return config.isOffline() ? HubModels.cached(model, config) : pulled(model, hearing);
        } catch (HubException unavailable) {
            throw new Unavailable(String.valueOf(unavailable.getMessage()), unavailable);
        }
    }

    private Path pulled(HubName model, Consumer<Progress> hearing) {
        try (var hub = new Hub(config)) {
            PullPlan plan = hub.plan(model);
            long missing = plan.missingBytes();
            var received = new AtomicLong();
            return hub.pull(plan, new PullObserver() {
                @Override
                public void received(long bytes) {
                    hearing.accept(new Progress(missing, Math.min(missing, received.addAndGet(bytes))));
                }
            });
        }
    }
}
