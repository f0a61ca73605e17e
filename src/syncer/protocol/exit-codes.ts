/** Exit code by which a worker's thread says that it ends because of an unhandled rejection. */
export const EXIT_UNHANDLED_REJECTION = 70;
