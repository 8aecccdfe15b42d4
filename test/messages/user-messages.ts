import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Folders whose messages reach senders or operators. */
const FOLDERS = [
  ...['ingest-api', 'admin-api', 'schemas', 'runtime', 'store', 'event-log', 'projector'],
  ...['commands', 'embedded', 'client', 'console/core'],
]
/** Functions and classes that take a message, with the index of the argument. */
const TAKE_A_MESSAGE = new Map([
  ['ApiError', 1],
  ['unavailable', 0],
  ['unavailableError', 0],
  ['rateLimited', 0],
  ['bodyFault', 0],
  ['conflict', 0],
  ['fault', 0],
  ['refuseRequest', 2],
  ['refuseConnection', 2],
  ['UsageError', 0],
  ['ConfigError', 0],
  ['DependencyError', 0],
  ['Error', 0],
  ['ApiFailure', 0],
])
const NAMED_AS_MESSAGES = /^(message|expected|fault|because|reason|\w+_EXPECTED|EXPECTED)$/

/** A message in the code: the fixed texts around its values. */
export type UserMessage = {
  readonly file: string
  readonly texts: readonly string[]
  /**
   * The function that takes the message, with an `ApiError`'s identifier; or the message's name.
   */
  readonly by: string
}

/** Every message in the code that a user may get, and every failure that may be logged. */
export function userMessages(): UserMessage[] {
  return FOLDERS.flatMap(filesIn).flatMap(messagesIn)
}

/** Every text of the code: some messages come from tables, or are joined from parts. */
export function allTexts(): string[] {
  return FOLDERS.flatMap(filesIn).flatMap((file) => {
    const found: string[] = []
    const visit = (node: ts.Node): void => {
      found.push(...textsOf(node).map((texts) => texts.join('…')))
      ts.forEachChild(node, visit)
    }
    visit(parsed(file))
    return found
  })
}

/** The code and the documents of a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesIn(path)
    return /\.tsx?$/.test(path) ? [path] : []
  })
}

export function readSource(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function messagesIn(file: string): UserMessage[] {
  const found: UserMessage[] = []
  const visit = (node: ts.Node): void => {
    const value = messageAt(node)
    if (value !== undefined) {
      const by = nameOf(node)
      for (const texts of textsOf(value)) if (isSentence(texts)) found.push({ file, texts, by })
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed(file))
  return found
}

function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readSource(file), ts.ScriptTarget.Latest, true)
}

function nameOf(node: ts.Node): string {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return 'a name'
  const [first] = node.arguments ?? []
  const name = node.expression.getText().split('.').pop() ?? ''
  return name === 'ApiError' && first !== undefined ? `ApiError ${first.getText()}` : name
}

function messageAt(node: ts.Node): ts.Node | undefined {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const name = node.expression.getText().split('.').pop() ?? ''
    return node.arguments?.[TAKE_A_MESSAGE.get(name) ?? Infinity]
  }
  const isNamed = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)
  return isNamed && NAMED_AS_MESSAGES.test(node.name.getText()) ? node.initializer : undefined
}

/** The possible texts of an expression; a message has several, around its values. */
function textsOf(node: ts.Node): string[][] {
  if (ts.isStringLiteralLike(node)) return [[node.text]]
  if (ts.isTemplateExpression(node)) {
    return [[node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]]
  }
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression)
  if (ts.isConditionalExpression(node)) {
    return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)]
  }
  if (!ts.isBinaryExpression(node)) return []
  const { kind } = node.operatorToken
  if (kind === ts.SyntaxKind.QuestionQuestionToken) return textsOf(node.right)
  if (kind !== ts.SyntaxKind.PlusToken) return []
  const [[left = []] = [], [right = []] = []] = [textsOf(node.left), textsOf(node.right)]
  const joined = `${left.at(-1) ?? ''}${right[0] ?? ''}`
  return [[...left.slice(0, -1), joined, ...right.slice(1)]]
}

function isSentence(texts: readonly string[]): boolean {
  return texts.some((text) => text.trim().split(/\s+/).length > 2)
}
