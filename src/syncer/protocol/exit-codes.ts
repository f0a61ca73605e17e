/** Exit codes by which a worker's thread says why it ends. */
export const EXIT_UNHANDLED_REJECTION = 70;
export const EXIT_UNCAUGHT_ERROR = 71;
