/** Names of kafkajs errors that say that no broker answered, or none let this client in. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSSASLAuthenticationError',
])
const REFUSED = 'KafkaJSSASLAuthenticationError'

/** Whether Kafka did not answer, or did not let this client in. */
export function isUnreachable(error: unknown): boolean {
  return chainOf(error).some(({ name }) => UNREACHABLE.has(name))
}

/** The setting that an error points to, if it is not the address. */
export function variableOf(error: unknown): { variable?: string } {
  const isRefused = chainOf(error).some(({ name }) => name === REFUSED)
  return isRefused ? { variable: 'KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD' } : {}
}

/** kafkajs wraps the error of the last try. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let one = error; one instanceof Error && !chain.includes(one); one = one.cause)
    chain.push(one)
  return chain
}
