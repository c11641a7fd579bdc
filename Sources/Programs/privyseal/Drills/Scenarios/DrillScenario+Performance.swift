import KeyDrills

extension DrillScenario {
    /// Performs the scenario step by step. The results are in the log.
    func perform(_ environment: DrillEnvironment, _ log: DrillLog) async throws {
        switch self {
        case .scheduledRotation: try await ScheduledRotation(environment: environment).perform(log)
        case .compromise: try await Compromise(environment: environment).perform(log)
        case .tokenLoss: try await TokenLoss(environment: environment).perform(log)
        case .wrongKeyImported: try await WrongKeyImported(environment: environment).perform(log)
        case .operatorMistake: try await OperatorMistake(environment: environment).perform(log)
        case .restoreFromBackupToken: try await RestoreFromBackupToken(environment: environment).perform(log)
        }
    }
}
