export function beginTestRun(): void
export function endTestRun(): Promise<void>
