/** NVIDIA devices as backends of the engine. */
module roselle.cuda {
    requires roselle.engine;

    exports roselle.cuda.spi;

    uses roselle.cuda.spi.ShippedCubins;

    provides roselle.backend.BackendProvider with
            roselle.cuda.CudaProvider;
    provides roselle.backend.DeviceSensors with
            roselle.cuda.CudaSensors;
}
