/** Liveness, readiness and the public health of the service. */
