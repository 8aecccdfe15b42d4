import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A secured broker's only user, and the certificate that its clients must trust. */
export type KafkaSecurity = {
  readonly username: string
  readonly password: string
  /** PEM text, and the file that holds it. */
  readonly certificate: string
  readonly certificateFile: string
  /** The file with the broker's key and certificate. */
  readonly keyStoreFile: string
}

/** A self-signed certificate for 127.0.0.1, created with openssl in `folder`. */
export async function makeKafkaSecurity(folder: string): Promise<KafkaSecurity> {
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test'],
    ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certificateFile],
  ])
  const certificate = readFileSync(certificateFile, 'utf8')
  const keyStoreFile = join(folder, 'broker.pem')
  writeFileSync(keyStoreFile, readFileSync(keyFile, 'utf8') + certificate)
  return { username: 'gps', password: 'secret-of-gps', certificate, certificateFile, keyStoreFile }
}

/** A broker's settings for a listener with TLS and SASL. */
export function securedSettings(
  settings: Readonly<Record<string, string>>,
  { username, password, keyStoreFile }: KafkaSecurity,
): Record<string, string> {
  const secured = (listeners = '') => listeners.replace('PLAINTEXT://', 'SASL_SSL://')
  const login = 'org.apache.kafka.common.security'
  const scram = `${login}.scram.ScramLoginModule required;`
  return {
    listeners: secured(settings['listeners']),
    'advertised.listeners': secured(settings['advertised.listeners']),
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL',
    'inter.broker.listener.name': 'SASL_SSL',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'listener.name.sasl_ssl.plain.sasl.jaas.config':
      `${login}.plain.PlainLoginModule required username="${username}" password="${password}" ` +
      `user_${username}="${password}";`,
    'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': scram,
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': scram,
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keyStoreFile,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': keyStoreFile.replace('broker.pem', 'certificate.pem'),
  }
}

/** The arguments that add the SCRAM user to a new broker's storage. */
export function scramUsers({ username, password }: KafkaSecurity): string[] {
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ])
}
