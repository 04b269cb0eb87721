package roselle.quarkus;

import io.quarkus.runtime.annotations.ConfigPhase;
import io.quarkus.runtime.annotations.ConfigRoot;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;

/** What the application says of the model that development and tests have where it names none. */
@ConfigMapping(prefix = "quarkus.roselle.devservices")
@ConfigRoot(phase = ConfigPhase.BUILD_TIME)
public interface RoselleDevServicesConfig {
    /** Whether there is one. */
    @WithDefault("true")
    boolean enabled();
}
