import Joi from 'joi'
import { parseNetwork, type Network } from '../outbound/outbound-url.ts'
import { SECRETS_KEY_BYTES } from '../process/sealed-secrets.ts'
import { variable } from './variables.ts'

/** How subscriptions reach other services. */
export type OutboundConfig = {
  /**
   * Encrypts the secrets of subscriptions; absent: in embedded mode, the key in the data directory.
   */
  readonly secretsKey?: Uint8Array
  readonly webhooks: {
    readonly allowNetworks: readonly Network[]
    readonly proxy?: string
  }
  readonly smtp?: { readonly url: string; readonly from: string }
}

export type OutboundVariables = {
  SECRETS_KEY?: Uint8Array
  WEBHOOK_ALLOW_NETWORKS?: readonly Network[]
  WEBHOOK_PROXY?: string
  SMTP_URL?: string
  SMTP_FROM?: string
}

const custom = <T>(parse: (text: string) => T | undefined) =>
  Joi.string().custom((text: string, helpers) => parse(text) ?? helpers.error('any.invalid'))

export const OUTBOUND_VARIABLES = {
  SECRETS_KEY: variable('SECRETS_KEY', custom(parseKey), {
    expected: '32 random bytes in base64 or hexadecimal, for example from: openssl rand -base64 32',
    secret: true,
  }),
  WEBHOOK_ALLOW_NETWORKS: variable('WEBHOOK_ALLOW_NETWORKS', custom(parseNetworks), {
    expected: 'networks separated by blanks or commas, for example 192.168.0.0/16 fd00::/8',
  }),
  WEBHOOK_PROXY: variable('WEBHOOK_PROXY', Joi.string().uri({ scheme: ['http', 'https'] }), {
    expected: 'the http:// or https:// URL of a proxy',
    secret: true,
  }),
  SMTP_URL: variable('SMTP_URL', custom(parseSmtpUrl), {
    expected:
      'a URL that starts with smtp:// or smtps:// and has a host, such as smtps://user:password@mail.example.org',
    secret: true,
  }),
  SMTP_FROM: variable(
    'SMTP_FROM',
    Joi.string()
      .max(320)
      .pattern(/^[^\p{Cc}]*@[^\p{Cc}]+$/u),
    {
      expected: 'the address that mails come from, for example GPS <gps@example.org>',
    },
  ),
}

export function outboundConfig(v: OutboundVariables): OutboundConfig {
  return {
    ...(v.SECRETS_KEY !== undefined && { secretsKey: v.SECRETS_KEY }),
    webhooks: {
      allowNetworks: v.WEBHOOK_ALLOW_NETWORKS ?? [],
      ...(v.WEBHOOK_PROXY !== undefined && { proxy: v.WEBHOOK_PROXY }),
    },
    ...(v.SMTP_URL !== undefined &&
      v.SMTP_FROM !== undefined && { smtp: { url: v.SMTP_URL, from: v.SMTP_FROM } }),
  }
}

/**
 * The URL; characters in its user or password that would end these, such as the @ of an address,
 * are encoded.
 */
function parseSmtpUrl(text: string): string | undefined {
  if (isSmtpUrl(text)) return text
  const [, scheme = '', user = '', password, server = ''] =
    /^(smtps?:\/\/)([^:]*)(?::(.*))?@([^@]+)$/i.exec(text) ?? []
  const login = [user, ...(password === undefined ? [] : [password])].map(encodeText).join(':')
  const url = `${scheme}${login}@${server}`
  return isSmtpUrl(url) ? url : undefined
}

const STRAY_PERCENT = /%(?![\da-f]{2})/i

function isSmtpUrl(text: string): boolean {
  const isUri =
    Joi.string()
      .uri({ scheme: ['smtp', 'smtps'] })
      .validate(text).error === undefined
  if (!isUri || STRAY_PERCENT.test(text)) return false
  const { hostname, pathname, hash } = new URL(text)
  return hostname !== '' && /^\/?$/.test(pathname) && hash === ''
}

/** Encoded characters remain unchanged. */
function encodeText(text: string): string {
  return text.replace(/%(?![\da-f]{2})|[^\w.~!$&'()*+,;=%-]/giu, encodeURIComponent)
}

function parseKey(text: string): Uint8Array | undefined {
  const encoding = /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64'
  if (encoding === 'base64' && !/^[\w+/-]{43}=?$/.test(text)) return undefined
  const key = Buffer.from(text, encoding)
  return key.length === SECRETS_KEY_BYTES ? key : undefined
}

function parseNetworks(text: string): readonly Network[] | undefined {
  const networks = text.split(/[\s,]+/).filter((part) => part !== '')
  const parsed = networks.flatMap((part) => {
    const network = parseNetwork(part)
    return network === undefined ? [] : [network]
  })
  return parsed.length === networks.length ? parsed : undefined
}
