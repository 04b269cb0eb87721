package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.backend.DeviceSensors;

/** Sensors where there is nothing to sense. */
class CudaSensorsTest {
    @Test
    void sayWhyTheyTellNothing() {
        var sensors = new CudaSensors(() -> {
            throw new DeviceException("libnvidia-ml.so.1 was not found");
        });
        assertThat(sensors.unavailable()).contains("libnvidia-ml.so.1 was not found");
    }

    @Test
    void areFoundByMeasurements() {
        assertThat(ServiceLoader.load(DeviceSensors.class)).anyMatch(sensors -> sensors instanceof CudaSensors);
    }
}
