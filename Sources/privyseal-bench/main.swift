import ArgumentParser
import NIOPosix
import ServiceLifecycle

print("placeholder")
