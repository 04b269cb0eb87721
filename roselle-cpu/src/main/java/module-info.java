/** The CPU as a device of the engine. */
module roselle.cpu {
    requires jdk.incubator.vector;
    requires roselle.engine;

    provides roselle.backend.BackendProvider with
            roselle.cpu.CpuProvider;
}
