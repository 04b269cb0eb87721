package roselle.server.pool;

import java.nio.file.Path;
import roselle.api.CapacityException;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EnginePlan;
import roselle.engine.StartObserver;

/** Opens engines of one configuration. */
final class EngineSource implements ModelSource<Engine> {
    private final String name;
    private final EngineConfig config;
    private volatile long promised;

    EngineSource(String name, EngineConfig config) {
        this.name = name;
        this.config = config;
    }

    @Override
    public ModelPlan plan() {
        try {
            EnginePlan plan = Engine.plan(config);
            promised = plan.totalBytes();
            return new ModelPlan(plan.totalBytes(), plan.weightBytes(), plan.context(), plan.machineBytes());
        } catch (RuntimeException failure) {
            throw told(failure);
        }
    }

    @Override
    public Engine open(Progress progress) {
        try {
            return Engine.open(config, new StartObserver() {
                @Override
                public void planned(EnginePlan plan) {
                    requirePromised(plan);
                }

                @Override
                public void loaded(long bytes, long totalBytes) {
                    progress.loaded(bytes, totalBytes);
                }
            });
        } catch (RuntimeException failure) {
            throw told(failure);
        }
    }

    /** Before anything is allocated: the file may be another one by now. */
    private void requirePromised(EnginePlan plan) {
        if (plan.totalBytes() > promised) {
            throw new CapacityException("it needs more memory than a moment ago: its files have changed");
        }
    }

    /** The failure as those may read it who are not to know where files lie. */
    private RuntimeException told(RuntimeException failure) {
        String message = String.valueOf(failure.getMessage());
        Path path = config.model().toAbsolutePath();
        String shown = message.replace(path.toString(), name);
        if (config.model().getNameCount() > 1) { // a single word may be one of the sentence's
            shown = shown.replace(config.model().toString(), name);
        }
        return shown.equals(message) ? failure : new ModelLoadException(shown, failure);
    }

    @Override
    public boolean isSound(Engine model) {
        return model.status().isAlive();
    }

    @Override
    public void close(Engine model) {
        model.close();
    }
}
