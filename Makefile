# Every target runs from the root of the checkout. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export NODE_OPTIONS ?= --experimental-vm-modules

## demo: the main job on a fresh machine: two kcps, a provider, two consumers, one bound API (KEEP=1 leaves it running)
demo: build
	@node scripts/tools.mjs kcp backend
	@node --import tsx e2e/demo/main.ts

## test: lint, types, unit and end-to-end tests, all that CI runs; the last line counts them
test: node_modules
	@node scripts/test.mjs

## unit: unit tests only; seconds, no real servers
unit: node_modules
	@npm run -s unit

## e2e: end-to-end suites on real servers; SUITE=name runs one of them
e2e: tools build
	@npx jest --config jest.e2e.config.mjs $(if $(SUITE),--selectProjects $(SUITE))

## bench-up: keeps the servers of the suites running, for running suites again and again
bench-up: tools build
	@node --import tsx e2e/harness/run-bench.ts

## soak: random faults and crashes on real servers, then a table of what was lost (SOAK_MINUTES=10, SOAK_SEED=n repeats a run)
soak: build
	@node scripts/tools.mjs kcp backend
	@node --import tsx e2e/soak/main.ts

## lint: eslint, prettier, unused code, generated files
lint: node_modules
	@npm run -s lint && node scripts/generate-types.mjs --check

## types: the TypeScript compiler
types: node_modules
	@npm run -s typecheck

## generate: types and validators from apiresourceschemas/
generate: node_modules
	@npm run -s generate

## build: bundles of controller, worker and plugin in dist/
build: node_modules
	@npm run -s build

## reference: docs/reference/plugin-commands.md from the plugin's commands
reference: node_modules
	@node --import tsx cmd/kubectl-kcp-bind/write-reference.ts

## release: the plugin with licence and reference as an archive in dist/
release: build
	@rm -rf dist/release && mkdir -p dist/release
	@cp dist/plugin/kubectl-kcp-bind LICENSE docs/reference/plugin.md docs/reference/plugin-commands.md dist/release/
	@tar -C dist/release -czf dist/kubectl-kcp-bind-$$(node -p "require('./package.json').version").tar.gz .
	@cd dist && sha256sum kubectl-kcp-bind-*.tar.gz | tee kubectl-kcp-bind.sha256

## tools: the real programs that tests run (KCP_BIN=, BACKEND_BIN= name existing ones)
tools:
	@node scripts/tools.mjs

## install-plugin: kubectl-kcp-bind into DEST (default ~/.local/bin)
install-plugin: build
	@mkdir -p $(or $(DEST),$(HOME)/.local/bin)
	@install -m 0755 dist/plugin/kubectl-kcp-bind $(or $(DEST),$(HOME)/.local/bin)/kubectl-kcp-bind
	@echo "installed $(or $(DEST),$(HOME)/.local/bin)/kubectl-kcp-bind: try kubectl kcp bind --help"

## clean: everything that was built, the real programs aside
clean:
	@rm -rf dist coverage .run

## help: this list
help:
	@sed -n 's/^## \([a-z0-9-]*\): \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

node_modules: package.json package-lock.json
	@npm ci --no-fund --no-audit
	@touch node_modules

.PHONY: demo test unit e2e bench-up soak lint types generate build reference release tools install-plugin clean help
